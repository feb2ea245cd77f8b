import { CodeLines } from './code-lines.tsx'

/** YAML to read, not to edit: the same colours and numbers as the editor. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  const shown = text.replace(/\n$/, '')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label={label} className="max-h-[70vh] overflow-auto py-3 -outline-offset-2">
      <div className="min-w-max font-mono text-code">
        <CodeLines text={shown} />
        <pre className="sr-only">{shown}</pre>
      </div>
    </section>
  )
}
