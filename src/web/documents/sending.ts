// The files that are sent, one after the other.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Failure } from '../server/ask.ts'
import { type Phase, sendFile, type Target } from '../server/upload.ts'

export type Sent = {
  /** The same for each try, so that a file is kept once. */
  key: string
  file: File
  target: Target
  state: 'waiting' | Phase | 'done' | 'empty' | Failure
  /** From 0 to 1, of the state. */
  share: number
}

export type Sending = {
  sent: readonly Sent[]
  add(files: readonly File[], target: Target): void
  again(key: string): void
  remove(key: string): void
}

export function useSending(): Sending {
  const [sent, setSent] = useState<readonly Sent[]>([])
  const stops = useRef(new Map<string, AbortController>())
  const change = (key: string, to: Partial<Sent>) =>
    setSent((all) => all.map((one) => (one.key === key ? { ...one, ...to } : one)))
  const isBusy = sent.some(({ state }) => state === 'reading' || state === 'sending' || state === 'saving')
  const next = isBusy ? undefined : sent.find(({ state }) => state === 'waiting')
  useEffect(() => {
    if (!next) return
    const { key, file, target } = next
    const stop = new AbortController()
    stops.current.set(key, stop)
    change(key, { state: 'reading', share: 0 })
    const progress = (state: Phase, share: number) => change(key, { state, share })
    void sendFile(file, target, { key, progress, signal: stop.signal }).then((failure) => {
      stops.current.delete(key)
      change(key, { state: failure ?? 'done', share: 1 })
    })
  }, [next?.key, next?.state])
  useEffect(
    () => () => {
      for (const stop of stops.current.values()) stop.abort() // the screen is left
    },
    [],
  )
  return {
    sent,
    add(files, target) {
      const added = files.map((file): Sent => {
        const state = file.size === 0 ? 'empty' : 'waiting'
        return { key: crypto.randomUUID(), file, target, state, share: 0 }
      })
      setSent((all) => [...added, ...all])
    },
    again: (key) => change(key, { state: 'waiting', share: 0 }),
    remove(key) {
      stops.current.get(key)?.abort()
      setSent((all) => all.filter((one) => one.key !== key))
    },
  }
}
