/** Why a door led back, in words: what happened, and what to do about it. */
export type RefusalWords = { title: string; text: string }

const WORDS: Record<string, RefusalWords> = {
  address: { title: 'That is not an e-mail address we can send to.', text: 'Write it as name@example.com.' },
  too_many: {
    title: 'Too many tries.',
    text: 'Use the newest code that you were sent, or wait a while and try again.',
  },
  code: {
    title: 'That is not the code.',
    text: 'Type the six digits of the newest mail. After five wrong codes you need a new one.',
  },
  dead: { title: 'Five wrong codes were typed, so this sign-in is over.', text: 'Ask for a new code.' },
  expired: { title: 'This code or link is not valid any more.', text: 'They last ten minutes. Ask for a new one.' },
  used: { title: 'This code or link was used already.', text: 'Each works once. Ask for a new one.' },
  wrong_browser: {
    title: 'This was not asked for in this browser.',
    text: 'A code or link works only in the browser where you entered your address. Go back there, or ask for a new code here.',
  },
  no_member: {
    title: 'This address belongs to no organisation here.',
    text: 'Ask an owner or admin of your organisation for an invitation.',
  },
  invitation: {
    title: 'This invitation is not open any more.',
    text: 'It was accepted, withdrawn, replaced by a newer one, or is older than a week. Ask for a new one.',
  },
  link: {
    title: 'This one-time address was used already, or is too old.',
    text: 'Get a new one where you got it: the first start prints it again, and `holdpoint team web` makes one for a machine.',
  },
  no_sso: {
    title: 'There is no single sign-on under this name.',
    text: 'Check the short name of the organisation, or sign in with a code by e-mail.',
  },
  provider_unreachable: {
    title: 'The sign-in provider could not be reached.',
    text: 'Try again, or sign in with a code by e-mail. If it stays so, tell an owner of your organisation.',
  },
  provider_refused: {
    title: 'The sign-in provider did not let you in.',
    text: 'It was cancelled there, took too long, or the connection is not set up rightly. Try again.',
  },
  issuer: {
    title: 'The provider answered under another name than the one it is connected as.',
    text: 'An owner of the organisation has to check the connection in the settings.',
  },
  unverified: {
    title: 'The provider does not say that it has verified your e-mail address.',
    text: 'Verify your address there, or sign in with a code by e-mail.',
  },
  domain: {
    title: 'This provider is not believed about addresses of your domain.',
    text: 'Sign in with a code by e-mail, or ask an owner to add the domain to the connection.',
  },
  unavailable: {
    title: 'The database does not answer right now.',
    text: 'Nothing was changed. Try again in a moment.',
  },
  form: { title: 'What was sent could not be read.', text: 'Fill in the form again.' },
  signed_out: { title: 'You are not signed in any more.', text: 'Sign in again to go on.' },
  no_switch: {
    title: 'This session belongs to one organisation.',
    text: 'Only an e-mail code proves your address to several. Sign out, then sign in with a code.',
  },
  not_found: { title: 'You do not belong to that organisation.', text: 'Choose one of those below.' },
  origin: {
    title: 'This came from another address than the one Holdpoint is at.',
    text: 'Open Holdpoint by the address that its mails carry, and try again there.',
  },
}

const FAILED: RefusalWords = {
  title: 'Something went wrong on our side.',
  text: 'Nothing was changed. Try again.',
}

/** The words of an error code in an address; undefined when there is none. A code that nobody knows is a failure of ours. */
export function refusalWords(code: string | undefined): RefusalWords | undefined {
  if (!code) return undefined
  return Object.hasOwn(WORDS, code) ? WORDS[code] : FAILED
}
