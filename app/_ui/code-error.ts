import type { ReactNode } from 'react'

/** Line and columns count from 1; `endColumn` is the first column after the fault. */
export type CodeError = {
  line: number
  column?: number
  endColumn?: number
  message: ReactNode
  kind?: 'error' | 'warning'
}
