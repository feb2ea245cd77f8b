import { join } from 'node:path'
import { expect, test } from 'vitest'
import { judgeClaim, readClaim } from '#agent/guard/claimant.ts'
import { typedCommand } from '../daemon/typed-command.ts'
import { Machine } from '../daemon/world.ts'

test.skipIf(process.platform !== 'linux')('a process that began after the word was typed did not take it', async () => {
  const machine = new Machine()
  const typed = await typedCommand(machine, ['approve', 'bnd-0123456789ab', '--session'])
  const judge = (ms: number) =>
    judgeClaim(
      { ...typed, at: new Date(ms).toISOString() },
      ms,
      machine.home.root,
      [join(machine.home.bin, 'holdpoint.cjs')],
      words => words.join(' ') === 'approve bnd-0123456789ab',
    )
  expect(judge(Date.now())).toMatchObject({ ok: true, chain: expect.arrayContaining(['node', 'bash']) })
  expect(judge(Date.now() - 60_000)).toMatchObject({ ok: false, code: 'started_later' })
})

test('what is not of a claim’s form is no claim', () => {
  const claim = { pid: 42, tty: '/dev/pts/1', at: '2030-01-01T00:00:00.000Z' }
  expect(readClaim({ ...claim, more: 1 })).toEqual(claim)
  for (const wrong of [{ pid: '42' }, { pid: 1 }, { pid: 4.2 }, { tty: '' }, { tty: 'x'.repeat(41) }, { at: 'now' }])
    expect(readClaim({ ...claim, ...wrong })).toBeUndefined()
})
