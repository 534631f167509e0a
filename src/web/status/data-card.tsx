// Card of the rates: newest days, syncs and decimals. Its sentences are the reasons of the server, by their codes.

import type { ProviderStatus, Series, Status } from '../api/responses.ts'
import type { ApiState } from '../components/use-api.ts'
import { formats, language, pageTexts, texts } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'
import { Fact, InstantFact, type PillKind, StatusCard } from './card.tsx'
import { reasonProblems } from './problems.ts'
import { ServerText } from './server-text.tsx'

export function DataCard(props: {
  status: Status
  arrival: number | undefined
  series: ApiState<readonly Series[]>
}) {
  const { status, series } = props
  const words = pageTexts(STATUS).data
  return (
    <StatusCard
      id="data"
      title={words.title}
      pill={dataPill(status)}
      sentence={<Sentences status={status} />}
      arrival={props.arrival}
    >
      {status.providers
        .filter(({ enabled }) => enabled)
        .map((provider) => (
          <Provider key={provider.code} provider={provider} status={status} series={series.value} />
        ))}
      {status.indicators && <IndicatorFact indicators={status.indicators.enabled} />}
    </StatusCard>
  )
}

function dataPill({ status, storage }: Status): [PillKind, string] {
  const words = pageTexts(STATUS).data
  if (storage.rates === 0) return ['waiting', words.none]
  return status === 'ok' ? ['good', words.fresh] : ['warn', words.stale]
}

function Sentences({ status }: { status: Status }) {
  const words = pageTexts(STATUS)
  const { reason_codes, reasons, scheduler, status: state, storage } = status
  if (state === 'ok' && storage.rates > 0) return <p>{words.data.freshText}</p>
  const problems = reasonProblems(reason_codes, words, formats.value.day, texts.value.sides)
  return (
    <>
      {problems.sentences.map((sentence) => (
        <p key={sentence} class="caution">
          {sentence}
        </p>
      ))}
      <p>{scheduler.running ? words.data.retries : words.data.off}</p>
      {problems.isIncomplete && <ServerText text={reasons.join('; ')} />}
    </>
  )
}

function Provider(props: {
  provider: ProviderStatus
  status: Status
  series: readonly Series[] | undefined
}) {
  const { provider, status, series } = props
  const words = pageTexts(STATUS).data
  const { day, count } = formats.value
  const { rounded } = status.storage
  const isAlone = status.providers.length === 1
  const otherDay = isAlone && series ? newestOtherDay(series) : undefined
  const isAwaited = isAlone && !series && status.storage.rates > 0
  return (
    <>
      {!isAlone && <h3>{provider.name}</h3>}
      <dl>
        {newestDays(provider).map(([newest, sides, age]) => (
          <Fact key={sides} name={words.newest} remark={`${sides} · ${relativeDay(age)}`}>
            {day(newest)}
          </Fact>
        ))}
        {(otherDay || isAwaited) && <Fact name={words.others}>{otherDay ? day(otherDay) : '…'}</Fact>}
        <LastSync provider={provider} status={status} />
        {provider.next_sync ? (
          <InstantFact name={words.nextSync} at={provider.next_sync} />
        ) : (
          <Fact name={words.nextSync}>
            <span class="caution">{words.offFact}</span>
          </Fact>
        )}
        {status.storage.rates > 0 && (
          <Fact name={words.decimals} remark={provider.exact ? words.completeText : words.roundedText}>
            {provider.exact ? words.complete : words.rounded(rounded, count(rounded))}
          </Fact>
        )}
      </dl>
    </>
  )
}

/** Number of indicators, of whole histories, and of those that wait or are refused. */
function IndicatorFact({ indicators }: { indicators: NonNullable<Status['indicators']>['enabled'] }) {
  const words = pageTexts(STATUS).data.indicators
  const { count } = formats.value
  const countState = (state: string) => indicators.filter((one) => one.state === state).length
  const wholeCount = indicators.filter(({ history_percent: percent }) => percent === 100).length
  const [waiting, refused] = [countState('waiting'), countState('refused')]
  const remarks = [
    words.history(count(wholeCount), count(indicators.length)),
    ...(waiting > 0 ? [words.waiting(count(waiting))] : []),
    ...(refused > 0 ? [words.refused(count(refused))] : []),
  ]
  return (
    <dl>
      <Fact name={words.name} remark={remarks.join(' · ')}>
        {count(indicators.length)}
      </Fact>
    </dl>
  )
}

/** The newest run and its result. With several providers it shows the last good run. */
function LastSync({
  provider: { last_good_sync: good },
  status,
}: {
  provider: ProviderStatus
  status: Status
}) {
  const { data, runs } = pageTexts(STATUS)
  const run = status.runs.find(({ finished_at, trigger }) => finished_at !== null && trigger !== 'import')
  const isFailed = status.providers.length === 1 && run && run.status !== 'ok'
  if (!isFailed) return good ? <InstantFact name={data.lastSync} at={good} /> : null
  const result = runs.states[run.status ?? 'error']
  const remark = good ? `${result}; ${data.lastGood(formats.value.instant(good))}` : result
  return <InstantFact name={data.lastSync} at={run.started_at} remark={remark} />
}

type NewestDay = [day: string, sides: string, age: number]

/** Newest days of the dollar: one for both sides, if they are equal. */
function newestDays({ sides }: ProviderStatus): NewestDay[] {
  const dated = sides.filter(({ newest }) => newest !== null)
  const names = texts.value.sides
  const list = new Intl.ListFormat(language.value)
  const days = Map.groupBy(dated, ({ newest }) => newest ?? '')
  return [...days].map(([day, group]) => [
    day,
    list.format(group.map(({ rate_type }) => names[rate_type].toLowerCase())),
    group[0]?.age_days ?? 0,
  ])
}

function relativeDay(age: number): string {
  return new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' }).format(-age, 'day')
}

function newestOtherDay(series: readonly Series[]): string | undefined {
  const days = series
    .filter(({ base_currency, quote_currency }) => base_currency !== 'USD' || quote_currency !== 'CRC')
    .flatMap(({ last_data_date }) => last_data_date ?? [])
  return days.toSorted().at(-1)
}
