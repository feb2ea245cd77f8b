import { type Graph, type Import, reachedFrom, type Sources } from './sources.ts'

/** One ban: files that match `in` must not import what matches `not`. */
type Ban = {
  in: RegExp
  not: RegExp
  /** Imports that the ban spares. */
  save?: (file: string, wanted: Import) => boolean
  why: string
}

const PRISMA = /^(generated\/|server\/db\.ts$|npm:(@prisma\/|pg$))/
const same = (prefix: RegExp) => (file: string, wanted: Import) =>
  prefix.exec(file)?.[0] === prefix.exec(wanted.target)?.[0]

/** The table of rooms: who must not import what, and the reason that a failure prints. */
export const BANS: Ban[] = [
  {
    in: /^core\//,
    not: /^(?!core\/)/,
    save: (_, { target }) => /^npm:(zod\/mini|yaml)$/.test(target),
    why: 'core is pure and shared: time, bytes, sha256 and verify come in as arguments; of packages it may use zod/mini and yaml',
  },
  { in: /^core\//, not: /^npm:zod$/, why: 'the whole of zod would be carried to every machine: use zod/mini' },
  {
    in: /^server\/features\//,
    not: /^(npm:(next|react|next-auth|@trpc\/|nodemailer)|app\/|agent\/|server\/(api|auth|email)\/)/,
    why: 'a feature is load, decide, commit: no pages, no transport, no sign-in; mail is queued in the same transaction',
  },
  { in: /^server\//, not: /^app\//, why: 'pages stand on the server, never the other way round' },
  { in: /^server\//, not: /^agent\//, why: 'the server never imports the connector: what they share is in core' },
  {
    in: /^server\/auth\//,
    not: /^server\/api\//,
    why: 'the doors ask who is there; who is there does not ask the doors',
  },
  {
    in: /^server\/api\//,
    not: new RegExp(`${PRISMA.source}|^npm:nodemailer|^server/email/`),
    save: (_, { typeOnly }) => typeOnly,
    why: 'a door is: who, parse, call, shape; queries and mail belong to features and jobs',
  },
  {
    in: /^server\/api\/routers\//,
    not: /^server\/api\/routers\//,
    why: 'routers stand beside one another: what two of them need is a feature',
  },
  {
    in: /^server\/email\//,
    not: new RegExp(`${PRISMA.source}|^server/(api|features|auth)/`),
    why: 'a message is data in, words out',
  },
  { in: /^server\/jobs\//, not: /^server\/api\//, why: 'a job is not a door' },
  {
    in: /^server\/boot\/.*\.mjs$/,
    not: /^(app|agent|core|generated|server\/(?!boot\/))/,
    why: 'the launcher runs before anything is built, in plain Node',
  },
  {
    in: /^app\//,
    not: new RegExp(`${PRISMA.source}|^server/(features|jobs|email|keys)/`),
    why: 'a page asks server/api: no queries and no rules in pages',
  },
  { in: /^app\//, not: /^agent\//, why: 'the connector runs on other machines' },
  {
    in: /^agent\//,
    not: new RegExp(`${PRISMA.source}|^(server|app|prisma)/|^npm:(next|react|@trpc/)`),
    why: "the connector is one small file on a developer's machine: it shares core with the server and nothing else",
  },
  {
    in: /^agent\/clients\/[^/]+\//,
    not: /^agent\/clients\/[^/]+\//,
    save: same(/^agent\/clients\/[^/]+\//),
    why: 'an adapter knows its own client only; what two of them need stands beside them in agent/clients',
  },
  {
    in: /^agent\/clients\//,
    not: /^node:(http|https|net|dgram|dns|tls)$/,
    why: 'an adapter turns bytes into events and answers into bytes: it has no network',
  },
  {
    in: /^e2e\//,
    not: /^(app|server|agent|generated)\//,
    why: 'a story goes through the public doors: pages, HTTP, the built command, the mailbox',
  },
  { in: /^(?!e2e\/)/, not: /^e2e\//, why: 'stories stand on the product, never the other way round' },
  {
    in: /^(app|core|server|agent|prisma)\//,
    not: /^(test\/|npm:(vitest|@playwright\/))/,
    why: 'the product does not know its tests',
  },
]

export function bannedImports(graph: Graph): string[] {
  const found: string[] = []
  for (const [file, imports] of graph) {
    for (const ban of BANS.filter(ban => ban.in.test(file))) {
      const hit = imports.filter(wanted => ban.not.test(wanted.target) && !ban.save?.(file, wanted))
      for (const { target } of hit) found.push(`${file} imports ${target}: ${ban.why}`)
    }
  }
  return found
}

/** The router's type, and the names of what it answers. */
const ROUTER_TYPES = /^server\/api\/(root|shapes)\.ts$/

/** From the server, code that reaches a browser may have the router's type, and nothing that runs. */
export function serverInBrowser(sources: Sources, graph: Graph): string[] {
  const clients = [...sources].filter(([file, text]) => file.startsWith('app/') && /^\s*(['"])use client\1/.test(text))
  const reached = new Set(clients.flatMap(([file]) => [...reachedFrom(graph, file)]))
  const found: string[] = []
  for (const file of reached) {
    for (const { target, typeOnly } of graph.get(file) ?? []) {
      if (/^(server|generated)\//.test(target) && !(typeOnly && ROUTER_TYPES.test(target))) {
        found.push(
          `${file} imports ${target}: it runs in browsers, which get the router's types (import type) and nothing that runs`,
        )
      }
      if (target.startsWith('node:')) found.push(`${file} imports ${target}: it runs in browsers`)
    }
  }
  return found
}

/** The program that a client starts on every call. */
export function packagesInHook(graph: Graph): string[] {
  const packages = [...reachedFrom(graph, 'agent/hook/main.ts')].filter(target => target.startsWith('npm:'))
  return packages.map(
    target =>
      `agent/hook/main.ts reaches ${target.slice(4)}: it starts on every call of an agent, so it has no packages`,
  )
}

/** Groups of files that import one another in a circle. */
export function cycles(graph: Graph): string[] {
  const order: string[] = []
  const visited = new Set<string>()
  const targets = (file: string) =>
    (graph.get(file) ?? []).map(({ target }) => target).filter(target => graph.has(target))
  const visit = (file: string) => {
    if (visited.has(file)) return
    visited.add(file)
    for (const target of targets(file)) visit(target)
    order.push(file)
  }
  for (const file of graph.keys()) visit(file)
  const importers = new Map<string, string[]>()
  for (const file of graph.keys())
    for (const target of targets(file)) importers.set(target, [...(importers.get(target) ?? []), file])
  const grouped = new Set<string>()
  const found: string[] = []
  for (const file of order.reverse()) {
    const group: string[] = []
    const collect = (member: string) => {
      if (grouped.has(member)) return
      grouped.add(member)
      group.push(member)
      for (const importer of importers.get(member) ?? []) collect(importer)
    }
    collect(file)
    const self = targets(file).includes(file)
    if (group.length > 1 || self)
      found.push(`${group.sort().join(', ')}: they import one another in a circle, so none can be understood alone`)
  }
  return found.sort()
}

const BANNED_NAMES =
  /^(index|utils?|helpers?|common|misc|shared|lib|types|services?|managers?|handlers?|repository|repositories)$/

export function bannedNames(files: Iterable<string>): string[] {
  const found: string[] = []
  for (const file of files) {
    for (const part of file.split('/')) {
      const name = part.split('.')[0]!.toLowerCase()
      if (BANNED_NAMES.test(name))
        found.push(`${file}: "${name}" says nothing about what is inside; name the noun it owns or the thing it does`)
    }
  }
  return found
}
