// Card of indicators: their newest values, the chart of one, and the counter rates of each entity.

import { useMemo } from 'preact/hooks'
import { FailureNotice } from '../../components/notice.tsx'
import { useApi } from '../../components/use-api.ts'
import { pageTexts, view } from '../../components/view.ts'
import { INDICATORS } from '../../i18n/indicator-texts.ts'
import { chartSubject, isCounter, type PageIndicator } from '../../model/indicators.ts'
import { CounterTable } from './counter-table.tsx'
import { IndicatorList } from './indicator-list.tsx'
import { IndicatorTrend } from './indicator-trend.tsx'

const EVERY_MS = 600_000

export function IndicatorsCard({ today }: { today: string }) {
  const words = pageTexts(INDICATORS)
  const { indicator } = view.value
  const { value, failure } = useApi<readonly PageIndicator[]>(
    '/api/v1/indicators?only_enabled=true&details=true',
    EVERY_MS,
  )
  const subject = useMemo(() => value && chartSubject(value, indicator), [value, indicator])
  const others = value?.filter((one) => !isCounter(one)) ?? []
  const counters = value?.filter(isCounter) ?? []
  return (
    <>
      <p class="quiet small">{words.subject}</p>
      {failure && !value && <FailureNotice failure={failure} />}
      {others.length > 0 && <IndicatorList indicators={others} selected={subject?.code} />}
      {subject && <IndicatorTrend subject={subject} today={today} />}
      {counters.length > 0 && <CounterTable indicators={counters} selected={subject?.code} today={today} />}
    </>
  )
}
