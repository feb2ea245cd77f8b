'use client'

import { QueryClientProvider } from '@tanstack/react-query'
import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from '@trpc/client'
import { createTRPCContext } from '@trpc/tanstack-react-query'
import { type ReactNode, useState } from 'react'
import superjson from 'superjson'
import type { AppRouter } from '#server/api/root.ts'
import { makeQueryClient } from './query-client.ts'

const context = createTRPCContext<AppRouter>()
export const { useTRPC, useTRPCClient } = context

let browser: ReturnType<typeof makeQueryClient> | undefined
/** The server makes one per render, so that no two people share what was read. */
function queryClient() {
  if (typeof window === 'undefined') return makeQueryClient()
  browser ??= makeQueryClient()
  return browser
}

const URL_PATH = '/api/trpc'
const makeClient = () =>
  createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: operation => operation.type === 'subscription',
        true: httpSubscriptionLink({ url: URL_PATH, transformer: superjson }),
        // A draft of a rule set is longer than an address may be, so its questions go by POST.
        false: splitLink({
          condition: operation => operation.path === 'boundary.check' || operation.path === 'boundary.preview',
          true: httpBatchLink({ url: URL_PATH, transformer: superjson, methodOverride: 'POST' }),
          false: httpBatchLink({ url: URL_PATH, transformer: superjson, maxURLLength: 2000 }),
        }),
      }),
    ],
  })

/** Gives pages the client of the API; live subscriptions go over server-sent events, the rest in batches. */
export function ApiProvider({ children }: { children: ReactNode }) {
  const client = queryClient()
  const [trpcClient] = useState(makeClient)
  return (
    <QueryClientProvider client={client}>
      <context.TRPCProvider trpcClient={trpcClient} queryClient={client}>
        {children}
      </context.TRPCProvider>
    </QueryClientProvider>
  )
}
