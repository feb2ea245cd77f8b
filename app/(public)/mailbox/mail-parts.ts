/** A piece of a mail's text: words, an address to open, or a code to copy. */
export type MailPart = { kind: 'words' | 'link' | 'code'; text: string }

const PART = /https?:\/\/[^\s<>"]+|^[ \t]{4}\d{6}$/gm

/** Cuts a mail's text so that addresses can be opened and codes copied; joined again, the parts are the text. */
export function mailParts(text: string): MailPart[] {
  const parts: MailPart[] = []
  let at = 0
  for (const match of text.matchAll(PART)) {
    if (match.index > at) parts.push({ kind: 'words', text: text.slice(at, match.index) })
    parts.push({ kind: match[0].startsWith('http') ? 'link' : 'code', text: match[0] })
    at = match.index + match[0].length
  }
  if (at < text.length) parts.push({ kind: 'words', text: text.slice(at) })
  return parts
}

/** The path of an address of this very control plane; undefined for any other, which is not made a link. */
export function ownPath(address: string, publicUrl: string): string | undefined {
  try {
    const url = new URL(address)
    return url.origin === new URL(publicUrl).origin ? `${url.pathname}${url.search}` : undefined
  } catch {
    return undefined
  }
}
