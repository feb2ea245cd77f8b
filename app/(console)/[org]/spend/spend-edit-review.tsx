'use client'

import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { applySpendEdit, type SpendEdit } from '#core/rules/spend-edit.ts'
import { type Base, EditReview } from './edit-review.tsx'

type Props = {
  org: string
  edit: SpendEdit
  base: Base
  onBase: (base: Base) => void
  onClose: () => void
  onDone: (version: number) => void
  title: ReactNode
  description: ReactNode
  confirmLabel?: string
  danger?: boolean
}

/** An edit of prices, tags or attribution before it is signed. */
export function SpendEditReview({ org, edit, confirmLabel = 'Sign and publish', ...rest }: Props) {
  const trpc = useTRPC()
  const act = useMutation(trpc.spend.edit.mutationOptions())
  return (
    <EditReview
      {...rest}
      confirmLabel={confirmLabel}
      alike="Nothing differs: the text says this already."
      apply={text => applySpendEdit(text, edit)}
      publish={publication => act.mutateAsync({ org, edit, ...publication })}
    />
  )
}
