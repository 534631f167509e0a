// Companies, agents and owners that the token can list. Transient failures are retried.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Agent, DirectoryEntry, Document } from '../api/documents.ts'
import { apiRequest, type Failure, type Result } from '../api/request.ts'
import { session } from '../api/session.ts'
import { isTransient, RETRY_MS, refreshCount, useLoaded } from '../components/use-api.ts'
import { visibleText } from '../model/visible.ts'

export type LoadedDirectory = {
  companies: readonly DirectoryEntry[]
  /** The selected company, or the only one; 0: the user must select one. */
  company: number
  agents: readonly Agent[]
  owners: readonly DirectoryEntry[]
  isLoaded: boolean
  failure: Failure | undefined
}

const PAGE_SIZE = 200

export function useDirectory(selectedCompany: number): LoadedDirectory {
  const current = session.value
  const tokenCompany = current.state === 'in' ? (current.token?.company_id ?? 0) : 0
  const companies = useList<DirectoryEntry>('/api/v1/companies', 'companies')
  const company = selectedCompany || tokenCompany || singleId(companies.value)
  const parties = useParties(company)
  return {
    companies: companies.value ?? [],
    ...parties,
    isLoaded: companies.value !== undefined && parties.isLoaded,
    failure: companies.failure ?? parties.failure,
  }
}

/** Agents and owners of a company. @param company 0: none */
export function useParties(company: number): Omit<LoadedDirectory, 'companies'> {
  const path = company > 0 ? `/api/v1/companies/${company}` : undefined
  const agents = useList<Agent>(path && `${path}/agents`, 'agents')
  const owners = useList<DirectoryEntry>(path && `${path}/owners`, 'owners')
  return {
    company,
    agents: agents.value ?? [],
    owners: owners.value ?? [],
    isLoaded: path === undefined || Boolean(agents.value && owners.value),
    failure: agents.failure ?? owners.failure,
  }
}

/**
 * Names of the agents of documents, by id. An unknown agent loads those of its company again, once.
 * `isLoaded`: each company was requested.
 */
export function useAgentNames(documents: readonly Pick<Document, 'company_id' | 'agent_id'>[]): {
  names: ReadonlyMap<number, string>
  isLoaded: boolean
} {
  const [agentsByCompany, setAgents] = useState<ReadonlyMap<number, readonly Agent[]>>(new Map())
  const [attempt, setAttempt] = useState(0)
  const answered = useRef(new Set<string>()) // since the refresh: companies, and their agents
  const refresh = refreshCount.value
  const agents = [...agentsByCompany.values()].flat()
  const names = new Map(agents.map(({ id, name }) => [id, name]))
  const parties = [
    ...new Set(documents.map(({ company_id, agent_id }) => `${company_id} ${agent_id}`)),
  ].sort()
  const companyIds = [...new Set(documents.map(({ company_id }) => company_id))].sort((a, b) => a - b)
  useEffect(() => {
    const request = new AbortController()
    const { signal } = request
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async () => {
      for (const id of companyIds) {
        const own = documents.filter(({ company_id }) => company_id === id)
        const unknown = own.filter(({ agent_id }) => !names.has(agent_id))
        const reasons = [`${refresh} ${id}`, ...unknown.map(({ agent_id }) => `${refresh} ${id} ${agent_id}`)]
        if (reasons.every((reason) => answered.current.has(reason))) continue
        const { value, failure } = await fetchList<Agent>(`/api/v1/companies/${id}/agents`, 'agents', signal)
        if (signal.aborted) return
        setAgents((old) => new Map(old).set(id, value ?? old.get(id) ?? []))
        if (failure && isTransient(failure))
          timer ??= setTimeout(() => setAttempt((count) => count + 1), RETRY_MS)
        else for (const reason of reasons) answered.current.add(reason)
      }
    }
    void load()
    return () => {
      request.abort()
      clearTimeout(timer)
    }
  }, [parties.join(), refresh, attempt])
  return { names, isLoaded: companyIds.every((id) => agentsByCompany.has(id)) }
}

function singleId(companies: readonly DirectoryEntry[] | undefined): number {
  return companies?.length === 1 ? (companies[0]?.id ?? 0) : 0
}

/** Loads all pages of a list. A transient failure does not discard them. */
function useList<T extends DirectoryEntry>(path: string | undefined, name: string) {
  const { value, failure } = useLoaded(path, (signal) => fetchList<T>(path ?? '', name, signal))
  return { value, failure: value ? undefined : failure }
}

async function fetchList<T extends DirectoryEntry>(
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<Result<readonly T[]>> {
  const rows: T[] = []
  let after = 0
  for (;;) {
    type Page = { next_after: number; has_more: boolean } & Record<string, readonly T[]>
    const { value, failure } = await apiRequest<Page>(`${path}?limit=${PAGE_SIZE}&after=${after}`, { signal })
    if (failure) return { failure }
    rows.push(...(value[name] ?? []))
    after = value.next_after
    if (!value.has_more) return { value: rows.map((one) => ({ ...one, name: visibleText(one.name) })) }
  }
}
