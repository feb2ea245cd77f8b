/** The built module as an install leaves it, beside what stands for Holdpoint's other programs; run by Node as opencode runs it. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { opencodeTexts } from '#agent/build.mjs'
import type { WhenBroken } from '#agent/clients/hook-editor.ts'
import { pluginText } from '#agent/clients/opencode/plugin-file.ts'

type Texts = { plugin: string; tried: string }
let built: Promise<Texts> | undefined

/** The texts that the connector carries, built once. */
export function builtTexts(): Promise<Texts> {
  built ??= opencodeTexts().then(texts => ({
    plugin: JSON.parse(texts.__OPENCODE_PLUGIN__) as string,
    tried: JSON.parse(texts.__OPENCODE_TRY__) as string,
  }))
  return built
}

/** As if the connector were bundled: its names are there. */
export async function asBuilt(): Promise<Texts> {
  const texts = await builtTexts()
  vi.stubGlobal('__OPENCODE_PLUGIN__', texts.plugin)
  vi.stubGlobal('__OPENCODE_TRY__', texts.tried)
  return texts
}

type Call = { tool: string; sessionID: string; callID?: string }
export type Hooks = {
  'tool.execute.before'(input: Call, output: { args: unknown }): Promise<void>
  'tool.execute.after'(input: Call, output: unknown): Promise<void>
  'chat.message'(input: { sessionID: string }, output: unknown): Promise<void>
  'chat.params'(input: unknown): Promise<void>
  config(config: unknown): Promise<void>
  event(input: { event: { type: string; properties: unknown } }): Promise<void>
  dispose(): Promise<void>
}
export type Loaded = {
  id: string
  server(context: unknown): Promise<Hooks>
  setup(context: unknown): Promise<void>
}

/** A folder with a home of Holdpoint's in it, whose small program writes down what it was told. */
export class PluginPlace {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdpoint-plugin-'))
  readonly home: string

  constructor(home?: string) {
    this.home = home ?? join(this.folder, '.holdpoint')
    mkdirSync(join(this.home, 'bin'), { recursive: true, mode: 0o700 })
    chmodSync(this.home, 0o700)
    writeFileSync(
      this.hook,
      `const { appendFileSync, readFileSync } = require('node:fs')
appendFileSync(${JSON.stringify(this.toldFile)}, JSON.stringify({ args: process.argv.slice(2), fields: JSON.parse(readFileSync(0, 'utf8')) }) + '\\n')`,
    )
  }

  private get hook(): string {
    return join(this.home, 'bin', 'hook.cjs')
  }
  private get toldFile(): string {
    return join(this.folder, 'told.jsonl')
  }

  /** What the small program was told, in the order in which it ended. */
  told(): { args: string[]; fields: Record<string, string> }[] {
    try {
      const lines = readFileSync(this.toldFile, 'utf8').trim().split('\n')
      return lines.map(line => JSON.parse(line))
    } catch {
      return []
    }
  }

  /** Loads it anew, with nothing remembered. */
  async load(whenBroken: WhenBroken = 'pass', more: { node?: string } = {}): Promise<Loaded> {
    const { plugin } = await builtTexts()
    const installed = {
      version: '1.0.0',
      node: process.execPath,
      hook: this.hook,
      home: this.home,
      whenBroken,
      ...more,
    }
    const text = `${pluginText(plugin, installed)}\n// ${Math.random()}`
    const loaded = await import(
      /* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`
    )
    return loaded.default
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
