import { cn } from './class-names.ts'
import { CopyButton } from './copy-button.tsx'

type Props = {
  text: string
  /** A command is shown with a `$`, which is not copied. */
  command?: boolean
  label?: string
  className?: string
}

/** One line to copy: a command, an address, a key. */
export function CodeLine({ text, command, label, className }: Props) {
  return (
    <div className={cn('flex items-start gap-2 rounded-md border bg-raised py-1 pr-1 pl-3', className)}>
      <code className="min-w-0 flex-1 self-center py-0.5 leading-5">
        {command && (
          <span aria-hidden className="select-none text-ink-3">
            ${' '}
          </span>
        )}
        {text}
      </code>
      <CopyButton text={text} iconOnly label={label ?? (command ? 'Copy command' : 'Copy')} />
    </div>
  )
}
