import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { folderFile, folderTrouble, isElsewhere, socketPlace } from '#agent/hook/socket-place.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'place-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('the socket lies in the home', () => {
  expect(socketPlace('/home/dev/.holdpoint', 1000)).toEqual({
    folder: '/home/dev/.holdpoint/run',
    path: '/home/dev/.holdpoint/run/hook.sock',
  })
})

describe('a home whose name is too long for a socket’s address', () => {
  let long: string
  const name = (text: string) => writeFileSync(folderFile(long), text)
  beforeEach(() => {
    long = join(folder, 'd'.repeat(90))
    mkdirSync(long)
  })

  test('names the folder that it has elsewhere', () => {
    name('/tmp/holdpoint-Ab3xYz')
    expect(socketPlace(long, 1000)).toEqual({
      folder: '/tmp/holdpoint-Ab3xYz',
      path: '/tmp/holdpoint-Ab3xYz/hook.sock',
    })
    expect(Buffer.byteLength(socketPlace(long, 1000)!.path)).toBeLessThanOrEqual(103)
  })

  test.each(['', '/tmp/holdpoint-', '/tmp/holdpoint-../..', '/tmp/holdpoint-Ab3xY/', '/home/eve/run', 'x'.repeat(200)])(
    'has none before, and whatever else is written there (%s)',
    text => {
      expect(folderTrouble(socketPlace(long, 1000)!)).toContain('is not there')
      name(text)
      expect(folderTrouble(socketPlace(long, 1000)!)).toContain('is not there')
    },
  )

  test('is told by the bytes of its name, not by its letters', () => {
    expect(isElsewhere(`/${'é'.repeat(30)}`)).toBe(false)
    expect(isElsewhere(`/${'é'.repeat(45)}`)).toBe(true)
  })
})

test('two ways to one home lead to one socket', () => {
  const home = join(folder, 'home')
  mkdirSync(home)
  symlinkSync(home, join(folder, 'link'))
  expect(socketPlace(join(folder, 'link'))).toEqual(socketPlace(home))
})

test('a system without users by number has none', () => {
  expect(socketPlace('/home/dev', undefined)?.path === undefined).toBe(process.getuid === undefined)
})

const own = () => join(folder, 'run')
test.each<[string, () => void, string | undefined]>([
  ['a folder of one’s own', () => mkdirSync(own(), { mode: 0o700 }), undefined],
  ['nothing', () => {}, 'is not there'],
  ['a file', () => writeFileSync(own(), ''), 'is not a folder'],
  [
    'a link, to a good folder even',
    () => {
      mkdirSync(join(folder, 'real'), { mode: 0o700 })
      symlinkSync(join(folder, 'real'), own())
    },
    'is not a folder',
  ],
  ['a folder that others may enter', () => mkdirSync(own(), { mode: 0o711 }), 'has the mode 711'],
  [
    'a folder that others may write to',
    () => {
      mkdirSync(own())
      chmodSync(own(), 0o777)
    },
    'has the mode 777',
  ],
])('%s in its place', (_, make, trouble) => {
  make()
  const said = folderTrouble({ folder: own() })
  if (trouble === undefined) expect(said).toBeUndefined()
  else expect(said).toContain(trouble)
})

test('a folder of another user is not used', () => {
  mkdirSync(own(), { mode: 0o700 })
  expect(folderTrouble({ folder: own() }, process.getuid!() + 1)).toContain('belongs to another user')
})
