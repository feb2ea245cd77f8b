import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

export type Column<Row> = {
  key: string
  head: ReactNode
  cell: (row: Row, index: number) => ReactNode
  /** Figures stand right-aligned with tabular numerals. */
  numeric?: boolean
  /** A head for screen readers only; for a column of buttons. */
  hideHead?: boolean
  /** Left out where the table is stacked. */
  wideOnly?: boolean
  /** Keep the column on one line. */
  nowrap?: boolean
  className?: string
}

type Props<Row> = {
  /** What the table lists; for screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** Shown in place of the rows when there are none; usually an EmptyState. */
  empty?: ReactNode
  /** A last row ("Total"), one cell a column key. */
  total?: Record<string, ReactNode>
  /** Marks a row, such as the one just changed. */
  isMarked?: (row: Row) => boolean
  /** Rows become small cards when the table's own box is below 560 px. Off for two- and three-column tables. */
  stack?: boolean
  hideHead?: boolean
}

// Stacking sets display:block, which takes a table's roles away in some browsers; so they are spelled out.
const AS = {
  table: { role: 'table' },
  rowgroup: { role: 'rowgroup' },
  row: { role: 'row' },
  columnheader: { role: 'columnheader' },
} as const

/** A table; the first column names the row. */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  empty,
  total,
  isMarked,
  stack = true,
  hideHead,
}: Props<Row>) {
  if (rows.length === 0 && empty) return <>{empty}</>
  const cells = (key: string, content: (column: Column<Row>) => ReactNode, looks: string) => (
    <tr
      key={key}
      {...AS.row}
      className={cn(
        'border-b last:border-b-0',
        stack && '@max-[35rem]:block @max-[35rem]:px-4 @max-[35rem]:py-2.5',
        looks,
      )}
    >
      {columns.map((column, position) => (
        <Cell key={column.key} column={column} first={position === 0} stack={stack}>
          {content(column)}
        </Cell>
      ))}
    </tr>
  )
  return (
    <div className="@container overflow-x-auto">
      <table {...AS.table} className={cn('w-full border-collapse text-left', stack && '@max-[35rem]:block')}>
        <caption className="sr-only">{caption}</caption>
        <thead {...AS.rowgroup} className={cn(stack && '@max-[35rem]:sr-only', hideHead && 'sr-only')}>
          <tr {...AS.row} className="border-b">
            {columns.map(column => (
              <th
                key={column.key}
                {...AS.columnheader}
                scope="col"
                className={cn(
                  'whitespace-nowrap px-4 py-2 font-medium text-ink-3 text-xs',
                  column.numeric && 'text-right',
                )}
              >
                {column.hideHead ? <span className="sr-only">{column.head}</span> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...AS.rowgroup} className={cn(stack && '@max-[35rem]:block')}>
          {rows.map((row, index) =>
            cells(rowKey(row), column => column.cell(row, index), isMarked?.(row) ? 'bg-accent-soft' : ''),
          )}
          {total && cells('total', column => total[column.key] ?? null, 'border-t font-semibold')}
        </tbody>
      </table>
    </div>
  )
}

type CellProps = { column: Omit<Column<never>, 'cell'>; first: boolean; stack: boolean; children: ReactNode }

function Cell({ column, first, stack, children }: CellProps) {
  return (
    <td
      role={first ? 'rowheader' : 'cell'}
      className={cn(
        'px-4 py-2.25 align-middle',
        column.numeric && 'text-right tabular-nums [&_time]:flex-row-reverse',
        column.nowrap && 'whitespace-nowrap',
        stack &&
          '@max-[35rem]:flex @max-[35rem]:items-baseline @max-[35rem]:justify-between @max-[35rem]:gap-4 @max-[35rem]:px-0 @max-[35rem]:py-0.75',
        stack && first && '@max-[35rem]:font-medium @max-[35rem]:*:min-w-0',
        stack && (column.wideOnly || children === null) && '@max-[35rem]:hidden',
        column.className,
      )}
    >
      {stack && !first && !column.hideHead && (
        <span aria-hidden className="hidden shrink-0 text-ink-3 text-xs @max-[35rem]:inline">
          {column.head}
        </span>
      )}
      {stack && !first ? (
        <div className="min-w-0 @max-[35rem]:text-right @max-[35rem]:[&_time]:flex-row-reverse">{children}</div>
      ) : (
        children
      )}
    </td>
  )
}
