import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { folderTrouble, socketPlace } from '#agent/hook/socket-place.ts'

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

test('a home whose name is too long for a socket’s address has a short folder of its own, one per user and home', () => {
  const long = `/home/${'d'.repeat(90)}`
  const place = socketPlace(long, 1000)!
  expect(place.folder).toMatch(/^\/tmp\/holdpoint-1000-[0-9a-f]{16}$/)
  expect(socketPlace(long, 1000)).toEqual(place)
  expect(socketPlace(`${long}x`, 1000)).not.toEqual(place)
  expect(socketPlace(long, 1001)).not.toEqual(place)
  for (let n = 60; n < 110; n++) {
    const { path } = socketPlace(`/${'é'.repeat(n / 2)}`, 4_294_967_293)!
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103)
  }
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
