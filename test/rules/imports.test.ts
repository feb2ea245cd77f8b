import { expect, test } from 'vitest'
import { bannedImports, bannedNames, cycles, packagesInHook, serverInBrowser } from './rooms.ts'
import { graphOf, importsOf, isSource, projectFiles, readSources, type Sources, withoutComments } from './sources.ts'

const sources = readSources()
const graph = graphOf(sources)

test('no room imports what it must not', () => {
  expect(bannedImports(graph)).toEqual([])
})

test('nothing of the server runs in a browser', () => {
  expect(serverInBrowser(sources, graph)).toEqual([])
})

test('the program that a client starts on every call has no packages', () => {
  expect(packagesInHook(graph)).toEqual([])
})

test('no files import one another in a circle', () => {
  expect(cycles(graph)).toEqual([])
})

test('files are named for what they own, and there are no barrels', () => {
  expect(bannedNames(projectFiles().filter(isSource))).toEqual([])
})

test('whoever needs a name imports it from the file that owns it: nothing is passed on, but the doors of routes', () => {
  const passedOn = [...sources].flatMap(([file, text]) =>
    [...withoutComments(text).matchAll(/^export\s+(?:type\s+)?(?:\*|\{[^}]*\})[^'"\n]*\sfrom\s*['"]([^'"]+)/gm)].map(
      ([, from]) => `${file} passes on ${from}`,
    ),
  )
  expect(passedOn.filter(line => !/^app\/.*\/route\.ts /.test(line))).toEqual([])
})

test('every import inside the project names a file that is there, with its ending', () => {
  const planting = 'test/rules/imports.test.ts'
  const missing = [...graph]
    .filter(([file]) => file !== planting)
    .flatMap(([file, imports]) =>
      imports
        .filter(
          ({ target }) =>
            /^(agent|app|core|e2e|prisma|server|test)\//.test(target) && !target.startsWith('agent/dist/'),
        )
        .filter(({ target }) => /\.(ts|tsx|mjs)$/.test(target) && !sources.has(target))
        .map(({ target }) => `${file} imports ${target}`),
    )
  expect(missing).toEqual([])
})

test('core has no clock, no randomness, no timers, no network and no console of its own', () => {
  const impure =
    /\b(Date\.now|performance\.now|Math\.random|fetch|setTimeout|setInterval|setImmediate|queueMicrotask)\(|new Date\(\)|\b(console|process|globalThis)\.|\bcrypto\.(subtle|getRandomValues|randomUUID)/
  const found = [...sources]
    .filter(([file]) => file.startsWith('core/'))
    .flatMap(([file, text]) =>
      impure.exec(withoutComments(text)) ? [`${file}: ${impure.exec(withoutComments(text))![0]}`] : [],
    )
  expect(found).toEqual([])
})

test('secrets pass through one file: server-only stands in server/env.ts and nowhere else', () => {
  const marked = [...graph].filter(([, imports]) => imports.some(({ target }) => target === 'npm:server-only'))
  expect(marked.map(([file]) => file)).toEqual(['server/env.ts'])
})

/** The rules themselves: each must find what is planted. */
const planted = (files: Record<string, string>): Sources => new Map(Object.entries(files))

test.each([
  ['core/a.ts', `import fs from 'node:fs'`, 'core is pure'],
  ['core/a.ts', `import { x } from '#server/db.ts'`, 'core is pure'],
  ['core/a.ts', `import { z } from 'zod'`, 'use zod/mini'],
  ['server/features/a.ts', `import { redirect } from 'next/navigation'`, 'load, decide, commit'],
  ['server/features/a.ts', `import { send } from '../email/mailer.ts'`, 'mail is queued'],
  ['server/features/a.ts', `const x = await import('#agent/home.ts')`, 'never imports the connector'],
  ['server/api/routers/a.ts', `import { database } from '#server/db.ts'`, 'who, parse, call, shape'],
  ['server/api/routers/a.ts', `import { b } from './b.ts'`, 'routers stand beside one another'],
  ['server/boot/a.mjs', `import { env } from '../env.ts'`, 'before anything is built'],
  ['app/page.tsx', `import { publish } from '#server/features/boundary.ts'`, 'no queries and no rules in pages'],
  ['app/page.tsx', `import type { Role } from '#generated/prisma/client.ts'`, 'no queries and no rules in pages'],
  ['agent/daemon/a.ts', `export { env } from '#server/env.ts'`, 'shares core with the server'],
  ['agent/clients/x/a.ts', `import { parse } from '../y/parse.ts'`, 'its own client only'],
  ['agent/clients/x/a.ts', `import http from 'node:http'`, 'has no network'],
  ['e2e/a.spec.ts', `import { publish } from '#server/features/boundary.ts'`, 'public doors'],
  ['server/a.ts', `import { useDatabase } from '#test/support/db.ts'`, 'does not know its tests'],
])('%s may not say %s', (file, text, why) => {
  expect(bannedImports(graphOf(planted({ [file]: text }))).join()).toContain(why)
})

test('an import is found wherever it stands, and a comment is none', () => {
  const text = `// import a from 'a'\nimport b,\n  { type c } from 'b'\nimport 'd'\nexport type { E } from './e.ts'\nconst f = await import('#core/f.ts') // 'g'\nconst h = "import i from 'i'"`
  expect(importsOf('core/x.ts', text)).toEqual([
    { target: 'npm:b', typeOnly: false },
    { target: 'npm:d', typeOnly: false },
    { target: 'core/e.ts', typeOnly: true },
    { target: 'core/f.ts', typeOnly: false },
  ])
})

test('a server value that reaches a browser through another file is found, the type of the router is not', () => {
  const files = planted({
    'app/button.tsx': `'use client'\nimport { label } from './label.ts'\nimport type { AppRouter } from '#server/api/root.ts'`,
    'app/label.ts': `import { words } from '#server/api/words.ts'`,
  })
  expect(serverInBrowser(files, graphOf(files))).toEqual([
    expect.stringContaining('app/label.ts imports server/api/words.ts'),
  ])
})

test('a package that the hook reaches through another file is found', () => {
  const files = planted({ 'agent/hook/main.ts': `import './a.ts'`, 'agent/hook/a.ts': `import { z } from 'zod/mini'` })
  expect(packagesInHook(graphOf(files))).toEqual([expect.stringContaining('reaches zod/mini')])
})

test('a circle of three and a file that imports itself are found', () => {
  const files = planted({
    'core/a.ts': `import './b.ts'`,
    'core/b.ts': `import type { C } from './c.ts'`,
    'core/c.ts': `import './a.ts'\nimport './d.ts'`,
    'core/d.ts': '',
    'core/e.ts': `import './e.ts'`,
  })
  expect(cycles(graphOf(files))).toEqual([
    expect.stringMatching(/^core\/a.ts, core\/b.ts, core\/c.ts:/),
    expect.stringMatching(/^core\/e.ts:/),
  ])
})

test('a barrel and a drawer of oddments are found', () => {
  expect(bannedNames(['core/index.ts', 'app/utils/a.ts', 'core/type.ts'])).toHaveLength(2)
})
