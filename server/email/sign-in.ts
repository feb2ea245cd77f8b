import { layOut, type Mail } from './layout.ts'

/** The code and the link of a sign-in; names the account, so that nobody confirms another one's. */
export function signInMail(data: { email: string; code: string; url: string; origin: string; minutes: number }): Mail {
  return layOut(`${data.code} is your Holdpoint sign-in code`, [
    {
      kind: 'text',
      text: `To sign in to Holdpoint at ${data.origin} as ${data.email}, type this code in the browser where you asked for it:`,
    },
    { kind: 'code', code: data.code },
    { kind: 'link', label: 'Or open the sign-in page in that same browser', url: data.url },
    { kind: 'small', text: `Both work once, for ${data.minutes} minutes, and only in the browser that asked.` },
    {
      kind: 'small',
      text: 'If you did not ask for this, do nothing: nobody can sign in with this mail from another browser. Never read the code to anybody.',
    },
  ])
}
