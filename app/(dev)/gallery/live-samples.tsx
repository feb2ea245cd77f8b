'use client'

import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { CodeEditor } from '#app/_ui/code-editor.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { CopyButton } from '#app/_ui/copy-button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '#app/_ui/menu.tsx'
import { SegmentedControl } from '#app/_ui/segmented-control.tsx'
import { TabLinks, Tabs } from '#app/_ui/tabs.tsx'
import { Time } from '#app/_ui/time.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { Tooltip } from '#app/_ui/tooltip.tsx'
import { FAULTY } from './sample-text.ts'

/** What needs script: the editor, dialogs, menus, notices. */
export function LiveSamples() {
  const [text, setText] = useState(FAULTY)
  const [view, setView] = useState<'form' | 'yaml'>('yaml')
  const line = text.split('\n').findIndex(each => each.includes('model_teir')) + 1
  const column = (text.split('\n')[line - 1]?.indexOf('model_teir') ?? 0) + 1
  const errors = line
    ? [
        {
          line,
          column,
          endColumn: column + 10,
          message: (
            <>
              <code>model_teir</code> is not a condition. <code>subagent_model</code> is judged by{' '}
              <code>model_tier</code>, <code>session_cost_usd</code> or <code>plan_left_pct</code>.
            </>
          ),
        },
      ]
    : []
  return (
    <>
      <Card
        title="org.yaml"
        sub="draft of version 13"
        aside={
          <SegmentedControl
            label="View"
            value={view}
            onChange={setView}
            segments={[
              { value: 'form', label: 'Form' },
              { value: 'yaml', label: 'YAML' },
            ]}
          />
        }
      >
        <CodeEditor label="Rule set, YAML" value={text} onChange={setText} errors={errors} />
      </Card>
      <Card title="Over the page" padded>
        <div className="flex flex-wrap items-center gap-2">
          <Dialog
            title="Review version 13"
            description="It goes to 43 machines. Two boundaries change."
            trigger={<Button>Open dialog</Button>}
            footer={
              <>
                <DialogClose>
                  <Button>Cancel</Button>
                </DialogClose>
                <Button variant="primary">Publish version 13</Button>
              </>
            }
          >
            Nothing binds until a boundary moves from shadow to enforce.
          </Dialog>
          <ConfirmDialog
            title="Revoke dev-2-laptop?"
            description="Its token stops working at once. Its rules stay in force until it is joined again or uninstalled."
            trigger={<Button variant="danger">Revoke</Button>}
            confirmLabel="Revoke machine"
            typedWord="dev-2-laptop"
            onConfirm={() =>
              new Promise((_, reject) => setTimeout(() => reject(new Error('The server did not answer.')), 600))
            }
          />
          <Menu trigger={<Button>Menu</Button>} label="Acts on this machine" align="start">
            <MenuItem icon={<Pencil aria-hidden />}>Rename</MenuItem>
            <MenuItem href="/gallery">Open</MenuItem>
            <MenuSeparator />
            <MenuItem icon={<Trash2 aria-hidden />} danger>
              Revoke
            </MenuItem>
          </Menu>
          <Button
            onClick={() =>
              toast('Version 13 is published', { description: '43 machines will fetch it within a minute.' })
            }
          >
            Notice
          </Button>
          <Button onClick={() => toast('Not published', { tone: 'held', description: 'Somebody was faster.' })}>
            Failure notice
          </Button>
          <CopyButton text="bnd-1a2b3c4d5e6f" label="Copy handle" />
          <Tooltip text="A remark on hover and focus">
            <Button variant="ghost">Tooltip</Button>
          </Tooltip>
          <span className="text-ink-3">
            <Time at={new Date(Date.now() - 190_000)} show="relative" />
          </span>
        </div>
      </Card>
      <Card title="Tabs" padded>
        <TabLinks
          label="Approvals"
          tabs={[
            { href: '/gallery', label: 'Waiting', current: true },
            { href: '/gallery?state=settled', label: 'Settled', current: false },
          ]}
        />
        <Tabs
          label="One boundary"
          tabs={[
            { value: 'cases', label: 'Cases', content: 'Both directions hold.' },
            { value: 'preview', label: 'Preview', content: 'It would have held 41 calls in 3 sessions on 2 machines.' },
          ]}
        />
      </Card>
    </>
  )
}
