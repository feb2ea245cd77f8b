import { join } from 'node:path'
import * as z from 'zod/mini'
import { type Home, readJson, writeJson } from '#agent/home.ts'
import { type Tags, TagsShape, tagsKey } from '#core/usage/tags.ts'

/** Repositories of a person's years; those that were seen first are forgotten first. */
const FILES_MAX = 2000
const Kept = z.record(z.string(), TagsShape)

/** The last good tags of each repository's file, over restarts: a mistake in a file takes nobody's attribution away. */
export class KeptTags {
  private files: Map<string, Tags> | undefined

  constructor(private readonly home: Home) {}

  private get path(): string {
    return join(this.home.usage, 'tags.json')
  }

  private get known(): Map<string, Tags> {
    if (this.files === undefined) {
      const read = Kept.safeParse(readJson(this.path))
      this.files = new Map(read.success ? Object.entries(read.data) : [])
    }
    return this.files
  }

  get(file: string): Tags | undefined {
    return this.known.get(file)
  }

  /** What a file says now; undefined: it is not there. */
  note(file: string, tags: Tags | undefined): void {
    const { known } = this
    const before = known.get(file)
    if (tags === undefined ? before === undefined : before !== undefined && tagsKey(before) === tagsKey(tags)) return
    if (tags === undefined) known.delete(file)
    else known.set(file, tags)
    if (known.size > FILES_MAX) known.delete(known.keys().next().value!)
    try {
      writeJson(this.home, this.path, Object.fromEntries(known))
    } catch {
      // it stays in memory; a restart before the disk takes it would only lose the copy
    }
  }
}
