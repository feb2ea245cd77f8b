import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { Shell } from '#app/_shell/shell.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { ControlSamples } from './control-samples.tsx'
import { DataSamples } from './data-samples.tsx'
import { LiveSamples } from './live-samples.tsx'
import { StateSamples } from './state-samples.tsx'

export const metadata: Metadata = { title: 'Component gallery' }
export const dynamic = 'force-dynamic'

/** Every part of the kit on one page, for those who build it. Absent unless asked for by the environment. */
export default function GalleryPage() {
  if (process.env.HOLDPOINT_GALLERY !== '1') notFound()
  return (
    <Shell
      org={{ slug: 'acme', name: 'Acme' }}
      organisations={[
        { slug: 'acme', name: 'Acme' },
        { slug: 'northwind', name: 'Northwind Traders' },
      ]}
      member={{
        name: 'Maria Lindqvist',
        email: 'maria.lindqvist@acme.example',
        role: 'owner',
        method: 'an e-mail code',
      }}
      waiting={3}
      banners={
        <Banner kind="demo" title="This is a demo.">
          The organisation, its people and their figures are made up. Anyone who can open this page can act as any of
          them.
        </Banner>
      }
    >
      <PageHeader
        title="Component gallery"
        sub="Every part of the kit in one place. It shows no data of anybody."
        facts="In force: version 12 · 41 of 43 machines"
        actions={
          <>
            <Button>History</Button>
            <Button variant="primary">Review and publish</Button>
          </>
        }
      />
      <div className="grid gap-6">
        <StateSamples />
        <ControlSamples />
        <DataSamples />
        <LiveSamples />
      </div>
    </Shell>
  )
}
