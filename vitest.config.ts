import { defaultExclude, defineConfig } from 'vitest/config'

export default defineConfig({
  // `server-only` throws unless a server's condition is set; this is the one that React's server parts go by.
  ssr: { resolve: { conditions: ['react-server', 'module', 'node', 'development|production'] } },
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: [...defaultExclude, 'e2e/**'],
    globalSetup: 'test/global.ts',
    server: { deps: { inline: ['server-only'] } },
    pool: 'forks',
    maxWorkers: Number(process.env.TEST_WORKERS ?? 2),
    // guards against a test that hangs, never a measure: the machine may be slow
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    restoreMocks: true,
    unstubEnvs: true,
  },
})
