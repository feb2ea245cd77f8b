import { fileURLToPath } from 'node:url'
import { defineConfig } from 'prisma/config'

// Prisma looks for its native migration engine before every command and downloads it when missing, even for commands
// that never run it. Any existing path satisfies that look-up, so these need no network.
if (['generate', 'validate', 'format'].includes(process.argv[2] ?? '')) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= fileURLToPath(import.meta.url)
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: {
    url: process.env.DATABASE_ADMIN_URL ?? process.env.DATABASE_URL ?? 'postgresql://localhost:5432/holdpoint',
  },
})
