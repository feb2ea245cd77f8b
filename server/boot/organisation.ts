// Makes an organisation on a running installation; bundled beside the seed. Prints one JSON line.

import { AppError, isAppError } from '#core/error.ts'
import { plainName } from '#core/plain-text.ts'
import { whyNoSlug } from '#core/slug.ts'
import { database } from '../db.ts'
import { openContext } from '../features/context.ts'
import { makeConsoleSignIn } from '../features/one-time-sign-in.ts'
import { createOrganisation } from '../features/organisation.ts'

const [slug = '', email = '', name = slug, ownerName = email.split('@')[0] ?? ''] = process.argv.slice(2)

async function make() {
  const why = whyNoSlug(slug)
  if (why) throw new AppError('BAD_INPUT', why)
  const visit = openContext({ kind: 'system', orgId: '' })
  return visit.db.$transaction(async tx => {
    if (await tx.organisation.findUnique({ where: { slug } })) {
      throw new AppError('CONFLICT', `There is an organisation "${slug}" already.`)
    }
    const owner = { email, name: plainName(ownerName) }
    const { orgId, ownerId } = await createOrganisation(tx, visit, { slug, name: plainName(name), owner })
    const { url, expiresAt } = await makeConsoleSignIn(tx, visit, { id: ownerId, orgId })
    return { slug, signInUrl: url, expiresAt: expiresAt.toISOString() }
  })
}

try {
  process.stdout.write(`${JSON.stringify(await make())}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: isAppError(error) ? error.message : String(error) })}\n`)
} finally {
  await database().prisma.$disconnect()
  await database().pool.end()
}
