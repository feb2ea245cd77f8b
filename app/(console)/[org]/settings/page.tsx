import { Banner } from '#app/_ui/banner.tsx'
import { Card } from '#app/_ui/card.tsx'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Time } from '#app/_ui/time.tsx'
import { may, seesEverybody, whyNot, whyNotFresh } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { mayReadDemoMail, requireActor } from '#server/auth/current.ts'
import { env } from '#server/env.ts'
import { titled } from '../page-title.ts'
import { againAt, SignInAgain } from '../sign-in-again.tsx'
import { currencyOptions } from '../spend/currency/words.ts'
import { CommandCard } from './command-card.tsx'
import { ConnectionsCard } from './connections-card.tsx'
import { CurrencyCard } from './currency-card.tsx'
import { KeysCard } from './keys-card.tsx'
import { MailCard } from './mail-card.tsx'
import { NameForm } from './name-form.tsx'
import { PolicyForm } from './policy-form.tsx'
import { RestoreCard } from './restore-card.tsx'
import { TokensCard } from './tokens-card.tsx'

export const generateMetadata = titled('Settings')

export default async function SettingsPage({ params }: { params: Promise<{ org: string }> }) {
  const { org } = await params
  const actor = await requireActor(org)
  const call = await api()
  const [settings, demoMailbox, money] = await Promise.all([
    call.settings.get({ org }),
    mayReadDemoMail(),
    call.spend.currency({ org }),
  ])
  const refusal = whyNot(actor, 'settings.change')
  const mayChange = refusal === undefined
  const tokens = await (await api()).token.list({ org })
  const tooOld = may(actor, 'keys.rotate') ? whyNotFresh(actor, new Date()) : undefined
  const sections = [
    ...(settings.restoredAt ? [{ id: 'restored', label: 'Restored copy' }] : []),
    { id: 'organisation', label: 'Organisation' },
    { id: 'policy', label: 'Answers and machines' },
    { id: 'currency', label: 'Billing currency' },
    { id: 'keys', label: 'Keys' },
    { id: 'sign-in', label: 'Sign-in providers' },
    { id: 'command', label: 'Credentials of the command' },
    { id: 'tokens', label: 'Tokens for programs' },
    { id: 'mail', label: 'Mail' },
  ]
  return (
    <>
      <PageHeader
        title="Settings"
        sub="How this organisation signs, signs in and answers. Every change stands in the audit with who made it."
      />
      <div className="grid items-start gap-x-8 lg:grid-cols-[minmax(0,46rem)_minmax(0,1fr)]">
        <nav aria-label="Sections of this page" className="sticky top-6 order-last hidden text-sm lg:block">
          <ul className="grid gap-0.5 border-l">
            {sections.map(({ id, label }) => (
              <li key={id}>
                <a href={`#${id}`} className="block rounded-r-md py-1 pl-3 text-ink-2 hover:bg-raised hover:text-ink">
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 [&>section]:scroll-mt-16">
          {refusal && (
            <Banner kind="note" title="You can read the settings and change none.">
              {refusal.why} {refusal.remedy}
            </Banner>
          )}
          {tooOld && (
            <SignInAgain tooOld={{ why: tooOld.why, again: againAt(org, 'settings') }}>
              Rotating a key, changing the billing currency, making a token for programs, going on with a restored copy,
              and connecting or removing a provider ask who you are once more.
            </SignInAgain>
          )}
          {settings.restoredAt && (
            <RestoreCard org={org} at={settings.restoredAt} mayConfirm={may(actor, 'restore.confirm')} />
          )}
          <Card id="organisation" title="Organisation">
            <div className="border-b p-4">
              <NameForm key={settings.name} org={org} name={settings.name} mayChange={mayChange} />
            </div>
            <KeyValue
              items={[
                {
                  key: 'Short name',
                  value: (
                    <>
                      <code>{settings.slug}</code>{' '}
                      <span className="text-ink-3 text-xs">stands in addresses and stays</span>
                    </>
                  ),
                },
                { key: 'Since', value: <Time at={settings.createdAt} show="day" /> },
              ]}
            />
          </Card>
          <Card id="policy" title="Answers and machines" padded>
            <PolicyForm
              key={`${settings.selfAnswer} ${settings.whenBroken} ${settings.maxAgeS}`}
              org={org}
              policy={{ selfAnswer: settings.selfAnswer, whenBroken: settings.whenBroken, maxAgeS: settings.maxAgeS }}
              mayChange={mayChange}
            />
          </Card>
          <CurrencyCard
            key={money.currency}
            org={org}
            currency={money.currency}
            choices={currencyOptions([...new Set([money.currency, ...money.choices])])}
            mayChange={may(actor, 'currency.change')}
            tooOld={tooOld && { why: tooOld.why, again: againAt(org, 'settings') }}
          />
          <KeysCard org={org} settings={settings} mayRotate={may(actor, 'keys.rotate')} />
          <ConnectionsCard
            org={org}
            origin={env().publicUrl}
            connections={settings.connections}
            mayChange={may(actor, 'connection.change')}
          />
          <CommandCard
            org={org}
            on={settings.adminCredential}
            credentials={settings.credentials}
            mayChange={mayChange}
            ownId={actor.memberId}
          />
          <TokensCard
            org={org}
            origin={env().publicUrl}
            tokens={tokens}
            maySee={seesEverybody(actor)}
            mayMake={may(actor, 'token.make')}
            tooOld={tooOld && { why: tooOld.why, again: againAt(org, 'settings') }}
          />
          <MailCard mail={settings.mail} demoMailbox={demoMailbox} />
        </div>
      </div>
    </>
  )
}
