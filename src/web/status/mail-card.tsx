// Card of the mailboxes: each with its last round, and what is wrong.

import type { MailboxStatus } from '../api/responses.ts'
import { formats, pageTexts } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'
import { visibleText } from '../model/visible.ts'
import { Fact, type PillKind, StatusCard } from './card.tsx'

type MailFailureCode = keyof (typeof STATUS)['mail']['failures']

export function MailCard({
  mailboxes,
  arrival,
}: {
  mailboxes: readonly MailboxStatus[]
  arrival: number | undefined
}) {
  const words = pageTexts(STATUS).mail
  const [pill, sentence] = mailState(mailboxes)
  return (
    <StatusCard
      id="mail"
      title={words.title}
      pill={pill}
      sentence={<p>{sentence}</p>}
      arrival={arrival}
      isWide
    >
      <dl>
        {mailboxes.map((mailbox) => (
          <Fact key={mailbox.id} name={visibleText(mailbox.name)} remark={describeCounts(mailbox)}>
            {describeState(mailbox)}
          </Fact>
        ))}
      </dl>
    </StatusCard>
  )
}

function mailState(mailboxes: readonly MailboxStatus[]): [[PillKind, string], string] {
  const words = pageTexts(STATUS).mail
  const failing = mailboxes.filter(({ state }) => state === 'failing').length
  if (failing > 0) return [['bad', words.failing], words.failingText(failing)]
  const pauses = mailboxes.filter(({ state }) => state === 'paused').length
  if (pauses > 0) return [['warn', words.paused], words.pausedText(pauses)]
  return [['good', words.good], words.goodText]
}

function describeState({ state, last_round, failing_since, failure_code }: MailboxStatus): string {
  const words = pageTexts(STATUS).mail
  const { instant } = formats.value
  if (state === 'paused') return words.paused
  if (state === 'failing') {
    const isKnown = failure_code !== null && Object.hasOwn(words.failures, failure_code)
    const cause = isKnown ? words.failures[failure_code as MailFailureCode] : pageTexts(STATUS).otherCause
    return words.failsSince(cause, instant(failing_since ?? last_round ?? ''))
  }
  return last_round === null ? words.neverRead : words.readAt(instant(last_round))
}

function describeCounts({ taken, refused, waiting }: MailboxStatus): string {
  const words = pageTexts(STATUS).mail
  const { count } = formats.value
  return [
    words.taken(count(taken)),
    ...(refused > 0 ? [words.refused(count(refused))] : []),
    ...(waiting !== null && waiting > 0 ? [words.waiting(count(waiting))] : []),
  ].join(' · ')
}
