import { defaultShouldDehydrateQuery, QueryClient } from '@tanstack/react-query'
import superjson from 'superjson'

/** One per browser, one per request on the server. What the server rendered is fresh for half a minute. */
export const makeQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: { staleTime: 30_000, retry: (count, error) => count < 2 && !isRefusal(error) },
      dehydrate: {
        serializeData: superjson.serialize,
        shouldDehydrateQuery: query => defaultShouldDehydrateQuery(query) || query.state.status === 'pending',
      },
      hydrate: { deserializeData: superjson.deserialize },
    },
  })

/** What the server refused with words of ours is not tried again. */
const isRefusal = (error: unknown): boolean => (error as { data?: { app?: string } })?.data?.app !== undefined
