/** Ends this browser's session through the sign-in library's door, which wants its token back, then goes to the sign-in page. */
export async function signOut(): Promise<void> {
  const answer = await fetch('/api/auth/csrf', { headers: { accept: 'application/json' } })
  if (!answer.ok) throw new Error('no sign-out token')
  const { csrfToken } = (await answer.json()) as { csrfToken: string }
  const done = await fetch('/api/auth/signout', {
    method: 'POST',
    body: new URLSearchParams({ csrfToken, callbackUrl: '/sign-in', json: 'true' }),
  })
  if (!done.ok) throw new Error('sign-out was refused')
  // A full load, so that nothing of the session stays in memory.
  window.location.assign('/sign-in')
}
