/** Reads the records below a folder into its ledger and says when it has, for a test that kills it. */
import { join } from 'node:path'
import { claude } from '#agent/clients/claude/claude.ts'
import type { UsageSource } from '#agent/clients/usage-source.ts'
import { DISK, openHome } from '#agent/home.ts'
import { Attributor } from '#agent/usage/attribute.ts'
import { Collector } from '#agent/usage/collect.ts'
import { Ledger } from '#agent/usage/ledger.ts'
import { Marks } from '#agent/usage/marks.ts'

const [folder = '', killAt = '0'] = process.argv.slice(2)
let writes = 0
const dieAt = Number(killAt)
const home = openHome(join(folder, 'home'), {
  ...DISK,
  // the n-th write ends in the middle of its bytes, and with it the process: as kill -9 ends it, without a goodbye
  write(fd, bytes) {
    if (++writes !== dieAt) return DISK.write(fd, bytes)
    DISK.write(fd, bytes.subarray(0, Math.floor(bytes.length / 2)))
    process.kill(process.pid, 'SIGKILL')
    return 0
  },
})
const ledger = new Ledger(home, Date.now)
const marks = new Marks(home)
const collector = new Collector({
  sources: [claude as unknown as UsageSource],
  clientHome: { homeDir: join(folder, 'dev'), env: {} },
  ledger,
  marks: () => marks,
  attributor: new Attributor(),
  now: Date.now,
  knownSession: () => undefined,
})
void collector.run().then(() => process.stdout.write(`read ${writes}`))
