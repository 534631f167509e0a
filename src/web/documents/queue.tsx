// Figures of the queue. Each one filters the list.

import type { Summary } from '../api/documents.ts'
import { Button } from '../components/button.tsx'
import { formats, pageTexts, setView, view } from '../components/view.ts'
import { DOCUMENTS } from '../i18n/documents-texts.ts'
import { LONG_WAIT_MINUTES } from '../model/documents/document-queue.ts'
import type { LiveSummary } from './live-summary.ts'
import { ageSeconds, elapsedText, timeText } from './times.ts'

const GROUPS = ['waiting', 'working', 'failed', 'today'] as const
type Group = (typeof GROUPS)[number]

export function Queue({ summary, failure }: LiveSummary) {
  const words = pageTexts(DOCUMENTS).queue
  return (
    <fieldset class="queue">
      <legend class="unseen">{words.title}</legend>
      {GROUPS.map((group) => {
        const isPressed = view.value.state === group
        const { text, tone } = summary ? groupDetail(group, summary) : { text: '', tone: '' }
        return (
          <Button
            key={group}
            class="card queue-figure grid tiny text-start"
            aria-pressed={isPressed}
            onClick={() => setView({ state: isPressed ? '' : group })}
          >
            <span>{words[group]}</span>
            <strong>
              {summary ? (
                formats.value.count(summary[group === 'today' ? 'done_today' : group])
              ) : failure ? (
                '—'
              ) : (
                <span class="awaited" />
              )}
            </strong>
            <span class={tone}>{text}</span>
          </Button>
        )
      })}
    </fieldset>
  )
}

function groupDetail(group: Group, summary: Summary): { text: string; tone: string } {
  const words = pageTexts(DOCUMENTS).queue
  const { oldest_waiting_at, working_since, last_failed_at, median_seconds_today } = summary
  switch (group) {
    case 'waiting': {
      if (oldest_waiting_at === null) return { text: '', tone: '' }
      const seconds = ageSeconds(oldest_waiting_at)
      const isLong = seconds > LONG_WAIT_MINUTES * 60
      return { text: words.oldest(elapsedText(seconds, 'short')), tone: isLong ? 'caution' : '' }
    }
    case 'working':
      return {
        text: working_since === null ? '' : elapsedText(ageSeconds(working_since), 'short'),
        tone: '',
      }
    case 'failed':
      return { text: last_failed_at === null ? '' : timeText(last_failed_at), tone: 'refusal' }
    case 'today': {
      if (median_seconds_today === null) return { text: '', tone: '' }
      return { text: words.median(elapsedText(median_seconds_today, 'short')), tone: '' }
    }
  }
}
