// The companies, agents and owners that the token may know of.

import { useEffect, useState } from 'preact/hooks'
import { refreshes } from '../parts/answer.ts'
import { ask, type Failure, type Result } from '../server/ask.ts'
import type { Agent, Named } from '../server/documents.ts'
import { session } from '../server/session.ts'
import { visibleText } from '../words/visible.ts'

export type Directory = {
  companies: readonly Named[]
  /** The one that is chosen, or the only one there is; 0: it has to be chosen. */
  company: number
  agents: readonly Agent[]
  owners: readonly Named[]
  isLoaded: boolean
  failure: Failure | undefined
}

const MOST = 200

export function useDirectory(chosen: number): Directory {
  const current = session.value
  const bound = current.state === 'in' ? (current.token?.company_id ?? 0) : 0
  const companies = useAll<Named>('/api/v1/companies', 'companies')
  const company = chosen || bound || onlyOne(companies?.value)
  const of = company > 0 ? `/api/v1/companies/${company}` : undefined
  const agents = useAll<Agent>(of && `${of}/agents`, 'agents')
  const owners = useAll<Named>(of && `${of}/owners`, 'owners')
  return {
    companies: companies?.value ?? [],
    company,
    agents: agents?.value ?? [],
    owners: owners?.value ?? [],
    isLoaded: companies?.value !== undefined && (of === undefined || Boolean(agents?.value && owners?.value)),
    failure: companies?.failure ?? agents?.failure ?? owners?.failure,
  }
}

/** Names of agents by id, of each company that a list of documents is of. */
export function useAgentNames(companies: readonly number[]): {
  names: ReadonlyMap<number, string>
  isLoaded: boolean
} {
  const [known, setKnown] = useState<ReadonlyMap<number, readonly Agent[]>>(new Map())
  const unique = [...new Set(companies)].sort((a, b) => a - b)
  const refresh = refreshes.value
  useEffect(() => {
    const stop = new AbortController()
    const load = async () => {
      for (const id of unique) {
        const { value } = await askAll<Agent>(`/api/v1/companies/${id}/agents`, 'agents', stop.signal)
        if (stop.signal.aborted) return
        setKnown((before) => new Map(before).set(id, value ?? before.get(id) ?? []))
      }
    }
    void load()
    return () => stop.abort()
  }, [unique.join(), refresh])
  const agents = [...known.values()].flat()
  return {
    names: new Map(agents.map(({ id, name }) => [id, name])),
    isLoaded: unique.every((id) => known.has(id)),
  }
}

function onlyOne(companies: readonly Named[] | undefined): number {
  return companies?.length === 1 ? (companies[0]?.id ?? 0) : 0
}

/** All of a list, page by page. Undefined until it is there. */
function useAll<T extends Named>(path: string | undefined, name: string): Result<readonly T[]> | undefined {
  const [held, hold] = useState<{ path: string | undefined; result: Result<readonly T[]> } | undefined>(
    undefined,
  )
  const refresh = refreshes.value
  useEffect(() => {
    if (path === undefined) return
    const stop = new AbortController()
    void askAll<T>(path, name, stop.signal).then((result) => {
      if (!stop.signal.aborted) hold({ path, result })
    })
    return () => stop.abort()
  }, [path, refresh])
  return held && held.path === path ? held.result : undefined
}

async function askAll<T extends Named>(
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<Result<readonly T[]>> {
  const all: T[] = []
  let after = 0
  for (;;) {
    type Part = { next_after: number; has_more: boolean } & Record<string, readonly T[]>
    const { value, failure } = await ask<Part>(`${path}?limit=${MOST}&after=${after}`, { signal })
    if (failure) return { failure }
    all.push(...(value[name] ?? []))
    after = value.next_after
    if (!value.has_more) return { value: all.map((one) => ({ ...one, name: visibleText(one.name) })) }
  }
}
