import type { ProviderStatus, Status } from '../api/responses.ts'
import { formats, texts } from '../components/view.ts'
import { Fact, Instant } from './fact.tsx'
import { statusTexts } from './texts.ts'

export function Freshness({ status }: { status: Status }) {
  const words = statusTexts.value
  const isGood = status.status === 'ok'
  const isEmpty = status.storage.rates === 0
  const [kind, text] = isEmpty
    ? ['waiting', words.unknown]
    : isGood
      ? ['good', words.fresh]
      : ['warn', words.stale]
  return (
    <section class="card freshness" aria-labelledby="freshness">
      <div class="card-head">
        <h2 id="freshness">{words.title}</h2>
        <span class={`pill ${kind}`}>{text}</span>
      </div>
      {isGood && !isEmpty && <p>{words.freshText}</p>}
      {status.reasons.length > 0 && (
        <ul class="reasons" lang="en">
          {status.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {status.providers
        .filter(({ enabled }) => enabled)
        .map((provider) => (
          <Provider
            key={provider.code}
            provider={provider}
            isAlone={status.providers.length === 1}
            isEmpty={isEmpty}
          />
        ))}
    </section>
  )
}

function Provider(props: { provider: ProviderStatus; isAlone: boolean; isEmpty: boolean }) {
  const { provider, isAlone, isEmpty } = props
  const words = statusTexts.value
  const { sides } = texts.value
  const { day } = formats.value
  const { name, exact, last_good_sync, next_sync } = provider
  return (
    <>
      {!isAlone && <h3>{name}</h3>}
      <dl class="fact-list">
        <Fact name={words.newest}>
          {provider.sides.map(({ rate_type, newest }) => (
            <span key={rate_type} class="newest">
              {newest ? day(newest) : '—'} <small>{sides[rate_type]}</small>
            </span>
          ))}
        </Fact>
        <Fact name={words.lastSync}>{last_good_sync ? <Instant at={last_good_sync} /> : '—'}</Fact>
        <Fact name={words.nextSync}>
          {next_sync ? <Instant at={next_sync} /> : <span class="caution">{words.noNext}</span>}
        </Fact>
        <Fact name={words.values}>
          {isEmpty ? '—' : exact ? words.exactText : <span class="caution">{words.rounded}</span>}
        </Fact>
      </dl>
    </>
  )
}
