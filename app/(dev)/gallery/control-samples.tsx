import { Card } from '#app/_ui/card.tsx'
import { Checkbox } from '#app/_ui/checkbox.tsx'
import { Field } from '#app/_ui/field.tsx'
import { FilterBar } from '#app/_ui/filter-bar.tsx'
import { RadioCards } from '#app/_ui/radio-cards.tsx'
import { SegmentedControl } from '#app/_ui/segmented-control.tsx'
import { Select } from '#app/_ui/select.tsx'
import { Switch } from '#app/_ui/switch.tsx'
import { TextArea } from '#app/_ui/text-area.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'

const STATES = [
  { value: 'waiting', label: 'Waiting' },
  { value: 'approved', label: 'Approved' },
  { value: 'denied', label: 'Denied' },
]

/** Everything that takes input. */
export function ControlSamples() {
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <Card title="Fields" padded>
        <div className="grid gap-4">
          <Field label="Name" hint="Shown beside every answer this person gives.">
            <TextInput placeholder="Maria Lindqvist" />
          </Field>
          <Field label="E-mail" required error="This address already belongs to a member.">
            <TextInput type="email" defaultValue="maria@acme.example" />
          </Field>
          <Field label="Let it go on below" aside="Rule: $20.00" optional>
            <TextInput prefix="$" suffix="session cost" inputMode="decimal" defaultValue="25.00" />
          </Field>
          <Field label="Reason, for the record" aside="Ceiling for the session: none">
            <TextArea rows={3} placeholder="Why this may go on" />
          </Field>
          <Field label="Role">
            <Select options={['member', 'lead', 'admin', 'owner', 'auditor'].map(value => ({ value, label: value }))} />
          </Field>
          <Field label="Fixed" hint="Set when the organisation was made.">
            <TextInput mono readOnly defaultValue="acme" />
          </Field>
        </div>
      </Card>
      <div className="grid gap-6">
        <Card title="Choices" padded>
          <div className="grid gap-4">
            <SegmentedControl
              label="What it requires"
              showLabel
              full
              defaultValue="approver"
              segments={[
                { value: 'allow', label: 'allow' },
                { value: 'ask', label: 'ask' },
                { value: 'approver', label: 'approver: lead' },
                { value: 'deny', label: 'deny' },
              ]}
            />
            <SegmentedControl
              label="View"
              defaultValue="yaml"
              segments={[
                { value: 'form', label: 'Form' },
                { value: 'yaml', label: 'YAML' },
              ]}
            />
            <RadioCards
              legend="Stage"
              defaultValue="shadow"
              options={[
                { value: 'shadow', label: 'Shadow', hint: 'Counts what it would have held and holds nothing.' },
                { value: 'enforce', label: 'Enforce', hint: 'Holds from the next rule set that a machine fetches.' },
                { value: 'off', label: 'Off', hint: 'Not for your role.', disabled: true },
              ]}
            />
            <Checkbox label="Tell me by e-mail" hint="At most one message an hour." defaultChecked />
            <Checkbox label="Only my own requests" />
            <Switch
              label="Refuse when broken"
              hint="When the pause point cannot decide, it lets the call pass and records that."
              defaultChecked
            />
            <Switch label="Answers to own requests" />
          </div>
        </Card>
        <Card title="Filter" padded>
          <FilterBar label="Filter approvals" clearHref="/gallery" aside="214 requests">
            <Field label="State" className="w-36">
              <Select name="state" placeholder="Any" options={STATES} />
            </Field>
            <Field label="Member" className="w-40">
              <TextInput name="member" />
            </Field>
          </FilterBar>
        </Card>
      </div>
    </div>
  )
}
