/**
 * Characters that change how a text is read and show nothing themselves: controls, line breaks, marks of direction
 * (Unicode bidi controls), of zero width and of annotation. Whoever lets one through lets a name write a mail header, move a
 * terminal's cursor or turn a line around.
 */
const MARKS = '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff\\ufff9-\\ufffb'
const anyMark = new RegExp(`[${MARKS}]`, 'g')
/** With the u flag a surrogate in the class only matches one that stands alone. */
const lineForm = new RegExp(`^[^${MARKS}\\ud800-\\udfff]+$`, 'u')
const wordForm = new RegExp(`^[^\\s"'\\\\${MARKS}\\ud800-\\udfff]+$`, 'u')

/** One line of ordinary text: no control, direction or zero-width marks, no broken character, not empty. */
export function isPlainLine(text: string): boolean {
  return lineForm.test(text)
}

/** The same without spaces, quotes and backslashes. */
export function isPlainWord(text: string): boolean {
  return wordForm.test(text)
}

/** At most 60 characters of something a person wrote, fit for a message: marks become dots. */
export function clip(text: string): string {
  const plain = text
    .slice(0, 200)
    .replace(anyMark, '·')
    .replace(/[\ud800-\udfff]/gu, '·')
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain
}

/** A text without such characters; `by` stands where each stood. */
export const replaceMarks = (text: string, by: '' | ' '): string => text.replace(anyMark, by)

/** The text on one line, without such characters, at most `max` long. */
export const oneLine = (text: string, max: number): string =>
  replaceMarks(text, ' ').replace(/\s+/g, ' ').trim().slice(0, max)

/** A person's or thing's name as it may stand in a mail header or on a page. */
export const plainName = (text: string): string => oneLine(text, 100)
