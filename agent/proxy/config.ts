import { type Home, readText } from '#agent/home.ts'
import { WatchedFile } from '#agent/trust/watched-file.ts'
import { BOUNDARIES_TEXT_MAX } from '#core/limits.ts'
import { NO_ROUTING, type Routing } from '#core/routing.ts'
import { chooseLocalDocument } from '#core/rules/last-good.ts'

/** Between looks at the file. */
const LOOK_MS = 500

/** `routing:` of config.yaml as it is now; of a broken file what its last good text said, and `problem` says that. */
export class RoutingConfig {
  private readonly file: WatchedFile
  private routing: Routing = NO_ROUTING
  private lookedAt = Number.NEGATIVE_INFINITY
  problem: string | undefined

  constructor(
    private readonly home: Home,
    private readonly onChange: (routing: Routing) => void = () => {},
  ) {
    this.file = new WatchedFile(home.config, 16 * BOUNDARIES_TEXT_MAX, true)
  }

  now(): Routing {
    const at = performance.now()
    if (at - this.lookedAt < LOOK_MS) return this.routing
    this.lookedAt = at
    const { changed, bytes, why } = this.file.look()
    if (changed) this.read(bytes, why)
    return this.routing
  }

  private read(bytes: Buffer | undefined, why: string | undefined): void {
    const text = bytes?.toString('utf8') ?? (why === undefined || why === 'absent' ? undefined : '\u0000')
    const lastGoodText = readText(this.home.localGood)
    const read = chooseLocalDocument({
      text,
      ...(lastGoodText === undefined ? {} : { lastGoodText }),
      options: { zone: Intl.DateTimeFormat().resolvedOptions().timeZone, other: ['attribution', 'team'] },
    })
    const first = read.errors[0]
    this.problem = first && `${first.line}:${first.column}  ${first.message} ${first.remedy}`
    this.routing = read.routing ?? NO_ROUTING
    this.onChange(this.routing)
  }
}
