import { basename, join } from 'node:path'
import type { Membership } from '#agent/daemon/runtime.ts'
import type { Problem } from '#core/boundary/problem.ts'
import type { TrustedRuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import type { SpendRules } from '#core/rules/shape.ts'
import { type Attributed, attribute, type SessionFacts, tagsByRules } from '#core/usage/attribution.ts'
import type { Covered } from '#core/usage/bucket.ts'
import type { DeclaredCover } from '#core/usage/declared-cover.ts'
import { NO_RENAMES, type RenameMap, renamedTags, renameMap } from '#core/usage/renames.ts'
import { REPOSITORY_FILE } from '#core/usage/tag-text.ts'
import { NO_TAGS, type Tags } from '#core/usage/tags.ts'
import type { KeptTags } from './kept-tags.ts'
import type { Place } from './place.ts'
import { type RepositoryTags, repositoryOf, repositoryTags } from './work-tree.ts'

/** A session's folder and file are looked at again after this. */
const AGAIN_MS = 30_000
const SESSIONS_MAX = 2000

/** Whom this machine is and belongs to, as attribution rules name it. */
export type Self = {
  homeDir: string
  team?: Pick<Membership['team'], 'machine' | 'label' | 'member' | 'backfill'> | undefined
  /** What config.yaml says of clients that a plan covers. */
  declared?: DeclaredCover | undefined
}

/** What is wrong with a repository's file of tags. */
export type TagProblem = { file: string; line: number; column: number; message: string; remedy: string }

type Known = { place: Place; lookedAt: number; about: About; cwd: string }
type About = {
  cwd?: string | undefined
  runTags?: Tags | undefined
  parentTags?: Tags | undefined
  environment?: readonly string[] | undefined
  covered?: Covered | undefined
}

const isSame = (a: About, b: About) =>
  a.runTags === b.runTags && a.parentTags === b.parentTags && a.covered === b.covered && a.environment === b.environment

/** What a place depends on, apart from whoever said it: that goes on changing. */
const pick = ({ runTags, parentTags, environment, covered }: About): About => ({
  runTags,
  parentTags,
  environment,
  covered,
})

/** Where sessions belong. What a folder says is looked at now and then, and never while a call waits that was seen before. */
export class Attributor {
  private readonly known = new Map<string, Known>()
  private readonly problems = new Map<string, TagProblem[]>()
  private readonly good = new Map<string, Tags>()

  /** `kept`: where the last good tags of files are kept over restarts. */
  constructor(
    private readonly kept?: KeptTags,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** The place of a session: from its folder, its repository's file, and what its run was given. */
  placeOf(client: string, session: string, about: About, maxAgeMs = AGAIN_MS): Place {
    const id = `${client}\n${session}`
    const before = this.known.get(id)
    const cwd = about.cwd || before?.cwd || ''
    const now = this.monotonic()
    if (before?.cwd === cwd && isSame(before.about, about) && now - before.lookedAt < maxAgeMs) return before.place
    if (this.known.size >= SESSIONS_MAX) this.known.delete(this.known.keys().next().value!)
    const repository = cwd === '' ? undefined : repositoryOf(cwd)
    const file = cwd === '' ? undefined : repositoryTags(cwd, repository?.root)
    if (file) this.noteProblems(file.file, file.errors)
    const good = this.goodTags(file, cwd, repository?.root)
    const { tags, from } = attribute({
      run: about.runTags,
      parent: about.parentTags && { tags: about.parentTags, from: {} },
      repository: good,
      facts: {},
    })
    const place: Place = {
      client,
      session,
      ...(cwd === '' ? {} : { directory: cwd }),
      repository: repository?.names ?? [],
      tags,
      from,
      ...(about.environment === undefined ? {} : { environment: about.environment }),
      ...(about.covered === undefined ? {} : { covered: about.covered }),
    }
    this.known.set(id, {
      place,
      lookedAt: now,
      about: pick(about),
      cwd,
    })
    return place
  }

  /** With an error in it nothing of a file is taken: its last good tags hold. */
  private goodTags(file: RepositoryTags | undefined, cwd: string, root: string | undefined): Tags {
    if (file && file.errors.length > 0) return this.good.get(file.file) ?? this.kept?.get(file.file) ?? NO_TAGS
    // looked at in this order, and no further than to the first that is there
    for (const path of [cwd, root].flatMap(folder => (folder ? [join(folder, REPOSITORY_FILE)] : []))) {
      if (path === file?.file) break
      this.note(path, undefined)
    }
    if (file) this.note(file.file, file.tags)
    return file?.tags ?? NO_TAGS
  }

  private note(path: string, tags: Tags | undefined): void {
    if (this.kept) this.kept.note(path, tags)
    else if (tags) this.good.set(path, tags)
    else this.good.delete(path)
  }

  private noteProblems(file: string, errors: readonly Problem[]): void {
    if (errors.length === 0) this.problems.delete(file)
    else if (this.problems.has(file) || this.problems.size < 20)
      this.problems.set(
        file,
        errors.slice(0, 5).map(({ line, column, message, remedy }) => ({ file, line, column, message, remedy })),
      )
  }

  tagProblems(): TagProblem[] {
    return [...this.problems.values()].flat()
  }
}

/** What attribution rules are matched against. */
export function factsOf(place: Place, { homeDir, team }: Self): SessionFacts {
  const { directory, repository, environment } = place
  const isBelowHome = directory?.startsWith(`${homeDir}/`) === true
  return {
    repository,
    held: environment,
    ...(directory === undefined
      ? {}
      : {
          directory: [directory, basename(directory), ...(isBelowHome ? [`~${directory.slice(homeDir.length)}`] : [])],
        }),
    ...(team
      ? {
          machine: [team.machine, ...(team.label === undefined ? [] : [team.label])],
          member: [team.member.id, team.member.name],
        }
      : {}),
  }
}

/** To whom the calls of a place belong: what was said here, then what the organisation's rules say. */
export function attributionOf(place: Place, rules: SpendRules | undefined, self: Self): Attributed {
  const tags: Record<string, string> = { ...place.tags }
  const from: Record<string, Attributed['from'][string]> = { ...place.from }
  for (const [key, value] of Object.entries(tagsByRules(rules?.attribution ?? [], factsOf(place, self))))
    if (!Object.hasOwn(tags, key)) {
      tags[key] = value
      from[key] = 'organisation'
    }
  // what a person or a rule still calls by its old name is recorded by what it is called now
  return { tags: renamedTags(renamesOf(rules), tags), from }
}

const maps = new WeakMap<SpendRules, RenameMap>()

/** The renames of a set, made ready once. */
export function renamesOf(rules: SpendRules | undefined): RenameMap {
  if (rules === undefined || rules.renames.length === 0) return NO_RENAMES
  const map = maps.get(rules) ?? renameMap(rules.renames)
  maps.set(rules, map)
  return map
}

const read = new WeakMap<TrustedRuleSet, ReturnType<typeof readSpend>>()

/** The sections about spend of the set in force, read once. */
export function spendOf(set: TrustedRuleSet | undefined): ReturnType<typeof readSpend> | undefined {
  if (set === undefined) return undefined
  let spend = read.get(set)
  if (spend === undefined) {
    spend = readSpend(set.set)
    read.set(set, spend)
  }
  return spend
}
