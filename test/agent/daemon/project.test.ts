import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { projectOf } from '#agent/daemon/project.ts'
import { repositoryOf } from '#agent/usage/work-tree.ts'

const root = mkdtempSync(join(tmpdir(), 'project-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const repository = (name: string, config: string) => {
  mkdirSync(join(root, name, '.git'), { recursive: true })
  writeFileSync(join(root, name, '.git/config'), config)
  return join(root, name)
}

it('is the repository’s name, below it and in its worktrees too: boundaries and bills speak of one project', () => {
  const main = repository('clone', '[remote "origin"]\n\turl = git@github.com:acme/billing-api.git\n')
  mkdirSync(join(main, 'src/deep'), { recursive: true })
  const worktree = join(root, 'hotfix')
  const own = join(main, '.git/worktrees/hotfix')
  for (const made of [worktree, own]) mkdirSync(made, { recursive: true })
  writeFileSync(join(worktree, '.git'), `gitdir: ${own}\n`)
  writeFileSync(join(own, 'commondir'), '../..\n')
  for (const cwd of [main, join(main, 'src/deep'), worktree]) {
    expect(projectOf(cwd), cwd).toBe('billing-api')
    expect(repositoryOf(cwd)?.names[0], cwd).toBe('billing-api')
  }
})

it('is the folder’s name where there is no remote or no repository, without what an attribution is divided by', () => {
  expect(projectOf(repository('no-remote', ''))).toBe('no-remote')
  const plain = join(root, 'a:b*c')
  mkdirSync(plain)
  expect(projectOf(plain)).toBe('a-b-c')
  expect(projectOf('')).toBe('unknown')
})
