'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { toast } from '#app/_ui/toast-store.ts'

/** Changes settings, says that it did, and reads the page anew. */
export function useSetting(said: string) {
  const router = useRouter()
  return useMutation(
    useTRPC().settings.update.mutationOptions({
      onSuccess: () => {
        toast(said)
        router.refresh()
      },
    }),
  )
}
