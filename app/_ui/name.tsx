import { cn } from './class-names.ts'

type Props = {
  children: string
  /** Within a table, whose columns would grow with the name; elsewhere it takes what room there is. */
  inTable?: boolean
  className?: string
}

/** A name that people chose: cut to one line and whole on hover; its own direction, which the words around it keep out of. */
export function Name({ children, inTable, className }: Props) {
  return (
    <bdi
      title={children}
      className={cn(
        'inline-block max-w-full truncate align-bottom',
        inTable && 'max-w-56 @max-[35rem]:max-w-full',
        className,
      )}
    >
      {children}
    </bdi>
  )
}
