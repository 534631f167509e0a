// Card of the status screen: a pill and a sentence of the same answer, and facts. A lost server has one pill everywhere.

import type { ComponentChildren } from 'preact'
import { serverTime } from '../api/clock.ts'
import { isOffline } from '../api/connection.ts'
import { formats, texts } from '../components/view.ts'

export type PillKind = 'good' | 'warn' | 'bad' | 'waiting'

/** @param arrival time of the answer */
export function StatusCard(props: {
  id: string
  title: string
  pill: readonly [kind: PillKind, text: string]
  sentence: ComponentChildren
  arrival: number | undefined
  /** As wide as all cards: it is a list. */
  isWide?: boolean
  children: ComponentChildren
}) {
  const { failures, health } = texts.value
  const { id, title, arrival, isWide = false, children } = props
  const isLost = isOffline.value && arrival !== undefined
  const [kind, text] = isLost ? (['bad', health.offline] as const) : props.pill
  return (
    <section class={`card ${isWide ? 'wide' : ''}`} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        <span class={`pill ${kind}`}>{text}</span>
      </div>
      <div class="quiet sentence grid gap-4">
        {isLost ? <p>{failures.lastShown(formats.value.time(arrival))}</p> : props.sentence}
      </div>
      {children}
    </section>
  )
}

/** Name and value in a `dl`, with a remark below. */
export function Fact(props: { name: string; children: ComponentChildren; remark?: ComponentChildren }) {
  const { name, children, remark } = props
  return (
    <div class="fact">
      <dt class="quiet small">{name}</dt>
      <dd>
        {children}
        {remark && <small>{remark}</small>}
      </dd>
    </div>
  )
}

/** Instant, with its distance from now or another remark below. */
export function InstantFact({ name, at, remark }: { name: string; at: string; remark?: string | undefined }) {
  const { instant, ago } = formats.value
  return (
    <Fact name={name} remark={remark ?? ago(at, serverTime())}>
      <time class="nowrap" dateTime={at}>
        {instant(at)}
      </time>
    </Fact>
  )
}
