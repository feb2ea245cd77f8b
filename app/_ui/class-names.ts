import { type ClassValue, clsx } from 'clsx'
import { extendTailwindMerge } from 'tailwind-merge'

// `text-code` is a size of ours; unnamed, the merger would take it for a colour.
const merge = extendTailwindMerge({ extend: { classGroups: { 'font-size': [{ text: ['code'] }] } } })

/** Joins class names; a later utility wins over an earlier one of its kind. */
export function cn(...values: ClassValue[]): string {
  return merge(clsx(values))
}
