import { oneLine } from '#core/plain-text.ts'

/** A mail as data: what the mailer sends and tests compare. Pure functions make it. */
export type Mail = { subject: string; text: string; html: string }

/** One block of a mail. `rows` are labelled facts, `link` a button with its address beneath, `code` a number to type. */
export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'rows'; rows: readonly (readonly [label: string, value: string])[] }
  | { kind: 'link'; label: string; url: string }
  | { kind: 'code'; code: string }
  | { kind: 'small'; text: string }

const escapeHtml = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;').replace(/'/g, '&#39;')

/** A header's text: no line break, control or direction character, so that nobody's name writes a header. */
export const headerText = (text: string): string => oneLine(text, 200)

/** The same words as text and as plain HTML: no picture, no remote content, no tracking. */
export function layOut(subject: string, blocks: readonly Block[]): Mail {
  const text = blocks.map(textOf).join('\n\n')
  const body = blocks.map(htmlOf).join('\n')
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(headerText(subject))}</title></head>
<body style="margin:0;padding:24px;background:#f6f7f8;color:#1c2126;font:14px/1.5 -apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#ffffff;border:1px solid #dfe3e6;border-radius:8px">
<p style="margin:0 0 16px;font-weight:600">Holdpoint</p>
${body}
</div></body></html>`
  return { subject: headerText(subject), text: `${text}\n`, html }
}

function textOf(block: Block): string {
  switch (block.kind) {
    case 'text':
    case 'small':
      return block.text
    case 'rows':
      return block.rows.map(([label, value]) => `${label}: ${value}`).join('\n')
    case 'link':
      return `${block.label}:\n${block.url}`
    case 'code':
      return `    ${block.code}`
  }
}

function htmlOf(block: Block): string {
  switch (block.kind) {
    case 'text':
      return `<p style="margin:0 0 16px">${escapeHtml(block.text)}</p>`
    case 'small':
      return `<p style="margin:0 0 8px;color:#5b6670;font-size:12px">${escapeHtml(block.text)}</p>`
    case 'rows':
      return `<table style="margin:0 0 16px;border-collapse:collapse">${block.rows
        .map(
          ([label, value]) =>
            `<tr><th scope="row" style="padding:2px 16px 2px 0;text-align:left;vertical-align:top;font-weight:400;color:#5b6670">${escapeHtml(label)}</th><td style="padding:2px 0;font-variant-numeric:tabular-nums">${escapeHtml(value)}</td></tr>`,
        )
        .join('')}</table>`
    case 'link':
      return `<p style="margin:0 0 16px"><a href="${escapeHtml(block.url)}" style="display:inline-block;padding:8px 16px;background:#1f5f8b;color:#ffffff;border-radius:6px;text-decoration:none">${escapeHtml(block.label)}</a><br><span style="color:#5b6670;font-size:12px;word-break:break-all">${escapeHtml(block.url)}</span></p>`
    case 'code':
      return `<p style="margin:0 0 16px;font:600 28px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:4px">${escapeHtml(block.code)}</p>`
  }
}
