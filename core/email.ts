import { AppError } from './error.ts'

/**
 * The one spelling of an address: trimmed, lower case, strict grammar (one @, no quotes, comma, brackets, control or
 * direction characters). Used wherever an address comes in, so that sending and checking never disagree.
 */
export function normaliseEmail(text: string): string {
  const email = text.trim().toLowerCase()
  const fine =
    /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/.test(
      email,
    )
  if (!fine || email.includes('..')) {
    throw new AppError('BAD_INPUT', 'This is not an e-mail address we can send to.', {
      remedy: 'Write it as name@example.com.',
    })
  }
  return email
}
