// Screen of documents by company and agent: figures of the queue, filters, list. A document or the sending of new ones
// is in a panel.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Document, Selection } from '../api/documents.ts'
import { documentPath, isSearch } from '../api/documents.ts'
import { session } from '../api/session.ts'
import { Button } from '../components/button.tsx'
import { icons } from '../components/icons.tsx'
import { lazyView } from '../components/lazy-view.tsx'
import { FailureNotice, failureText, Notice } from '../components/notice.tsx'
import { useApi } from '../components/use-api.ts'
import { formats, pageTexts, setView, texts, view } from '../components/view.ts'
import { DOCUMENTS } from '../i18n/documents-texts.ts'
import { INVOICES } from '../i18n/invoice-words.ts'
import { costaRicaDay } from '../model/days.ts'
import { visibleText } from '../model/visible.ts'
import { NeedsSecret } from '../session/lazy-doors.ts'
import { type LoadedDirectory, useAgentNames, useDirectory, useParties } from './directory.ts'
import { type DirectoryNames, DocumentList, type ListProps, partyNames } from './document-list.tsx'
import { Filters, usePeriod } from './filters.tsx'
import { useInvoiceChoice } from './invoice-filter.tsx'
import { type LiveDocuments, useLiveDocuments } from './live-documents.ts'
import { useSummary } from './live-summary.ts'
import { closePanel, openButtonId, openPanel, Panel } from './panel.tsx'
import { Queue } from './queue.tsx'
import { RetryButton } from './retry-button.tsx'
import { noteText, StateChip } from './state-chip.tsx'
import { timeText } from './times.ts'

const DocumentDetails = lazyView(() => import('./document/document-details.tsx'), 'DocumentDetails')
const Sending = lazyView(() => import('./sending/sending.tsx'), 'Sending')

const ALONE_EVERY_MS = 5000
const NO_FILTERS = {
  ...({ company: 0, agent: 0, state: '', search: '', since: '', until: '' } as const),
  ...{ issuer: '', clave: '' },
}

export function DocumentsScreen() {
  const current = session.value
  if (current.state === 'in' && !current.token) return <NeedsSecret kind="token" />
  return <Documents />
}

// Names, filters and rows appear together with the first list: later ones would move text that the user reads.
function Documents() {
  const { company, agent, state, search, issuer, clave, since, until } = view.value
  const selection: Selection = { company, agent, state, search, issuer, clave, since, until }
  const directory = useDirectory(company)
  const live = useSummary(selection)
  const received = useLiveDocuments(selection, live.summary, isInUse)
  const hasDirectory = directory.isLoaded || directory.failure !== undefined
  const agentNames = useAgentNames(received.documents ?? [])
  const isLoaded = hasDirectory && (received.documents ?? received.failure) !== undefined
  const [wasReady, setReady] = useState(isLoaded)
  const isReady = isLoaded && (wasReady || agentNames.isLoaded)
  if (isReady && !wasReady) setReady(true)
  const period = usePeriod()
  const invoice = useInvoiceChoice()
  const isRefused = Boolean(period.since.error ?? period.until.error ?? invoice.error)
  const names: DirectoryNames = {
    companies: new Map(directory.companies.map(({ id, name }) => [id, name])),
    agents: agentNames.names,
  }
  const { changed, stored } = live.summary ?? {}
  const list = { names, onOpen: (id: number) => openPanel({ document: id }), onChange: received.replace }
  useFocusReturn()
  return (
    <div class={view.value.document > 0 || view.value.send ? 'documents with-panel' : 'documents'}>
      <h1 class="unseen">{texts.value.screens.documents}</h1>
      <Queue {...live} />
      <section class="card received" aria-labelledby="received">
        <ListHead received={received} />
        <Filters directory={wasReady ? directory : undefined} period={period} invoice={invoice} />
        {isRefused ? (
          <p class="list-none">—</p>
        ) : isReady ? (
          <ReceivedList {...list} received={received} selection={selection} stored={stored} />
        ) : (
          <p class="loading">{texts.value.loading}</p>
        )}
      </section>
      <DocumentPanel {...list} received={received} changed={changed} />
      <SendingPanel directory={directory} />
    </div>
  )
}

function ListHead({ received }: { received: LiveDocuments }) {
  const words = pageTexts(DOCUMENTS).documents
  const { documents, failure, newCount, isSearching } = received
  const state =
    failure && documents
      ? words.waiting
      : isSearching
        ? words.searching
        : newCount > 0
          ? words.fresh(newCount)
          : words.live
  return (
    <div class="card-head">
      <div>
        <h2 id="received" tabIndex={-1}>
          {words.list}
        </h2>
        <p class={failure ? 'line small live refusal' : 'line small live quiet'} role="status">
          {state}
        </p>
      </div>
      <Button id="send" class="button main send" onClick={() => openPanel({ send: true })}>
        {icons.upload}
        {words.send}
      </Button>
    </div>
  )
}

function ReceivedList(
  props: ListProps & { received: LiveDocuments; selection: Selection; stored: number | undefined },
) {
  const words = pageTexts(DOCUMENTS).documents
  const { selection, stored } = props
  const { documents, failure, hasMore, isSearching, loadMore } = props.received
  const { company, agent, issuer, clave } = selection
  const isFiltered = isSearch(selection) || company > 0 || agent > 0 || issuer + clave !== ''
  const searched = searchedText(selection)
  if (!documents && failure?.kind === 'forbidden') return <Notice title={words.cannotRead} />
  if (!documents) {
    return failure ? <FailureNotice failure={failure} /> : <p class="loading">{texts.value.loading}</p>
  }
  const isEmpty = documents.length === 0 && !hasMore
  return (
    <>
      {isEmpty && (
        <Notice title={isFiltered ? words.noneFound : words.none}>
          {searched !== '' && <p class="searched breaks">{searched}</p>}
          {isFiltered ? (
            <Button onClick={() => setView(NO_FILTERS)}>{pageTexts(DOCUMENTS).filters.clear}</Button>
          ) : (
            <p>{words.noneText}</p>
          )}
        </Notice>
      )}
      <DocumentList {...props} documents={documents} />
      {failure && <p class="refusal">{failureText(failure).title}</p>}
      {!isEmpty && (
        <p class="row tiny quiet list-foot touch">
          <span>
            {isFiltered || stored === undefined
              ? countText(documents.length)
              : countText(documents.length, stored)}
          </span>
          {hasMore && (
            <Button class="link" disabled={isSearching} onClick={loadMore}>
              {isFiltered ? searchOnText(props.received) : words.more}
            </Button>
          )}
        </p>
      )}
    </>
  )
}

function countText(count: number, all?: number): string {
  const words = pageTexts(DOCUMENTS).documents
  const write = formats.value.count
  if (all !== undefined && all > count) return words.countOf(write(count), write(all))
  return words.count(write(count), count === 1)
}

/** Terms of a search that found nothing. */
function searchedText({ search, issuer, clave }: Selection): string {
  const words = pageTexts(INVOICES).search
  return [
    search.trim() && words.ofName(visibleText(search.trim())),
    issuer && words.ofIssuer(issuer),
    clave && words.ofClave(clave),
  ]
    .filter(Boolean)
    .join(' · ')
}

function searchOnText({ isSearching, scanEdge }: LiveDocuments): string {
  const words = pageTexts(DOCUMENTS).documents
  if (isSearching) return words.searching
  if (scanEdge === undefined) return words.searchOnAnywhere
  return words.searchOn(formats.value.day(costaRicaDay(Date.parse(scanEdge))))
}

/** The open document: of the list, or loaded alone. */
function DocumentPanel(props: ListProps & { received: LiveDocuments; changed: number | undefined }) {
  const { received, changed, names } = props
  const { document: id } = view.value
  const row = received.documents?.find((one) => one.id === id)
  const isAlone = id > 0 && received.documents !== undefined && !row
  const alone = useApi<Document>(isAlone ? documentPath(id) : undefined, ALONE_EVERY_MS)
  const loaded = alone.failure?.kind === 'not-found' ? undefined : (alone.value ?? alone.previous)
  const doc = row ?? (loaded?.id === id ? loaded : undefined)
  const onDelete = () => {
    received.remove(id)
    closePanel()
  }
  const time = doc && timeText(doc.created_at)
  return (
    <Panel
      isOpen={id > 0}
      content={id}
      title={doc ? <bdi>{visibleText(doc.name)}</bdi> : texts.value.screens.documents}
      subtitle={doc ? [...partyNames(doc, names), time].join(' · ') : ''}
    >
      {id > 0 &&
        (doc || alone.failure ? (
          <DocumentDetails
            key={id}
            document={doc}
            failure={alone.failure}
            changed={changed}
            parties={doc ? partyNames(doc, names) : []}
            chip={doc && <StateChip state={doc.state} />}
            note={doc ? noteText(doc) : ''}
            retry={doc && <RetryButton document={doc} isMain onChange={props.onChange} />}
            timeText={timeText}
            onOpen={props.onOpen}
            onDelete={onDelete}
          />
        ) : (
          <p class="preview-wait quiet">{texts.value.loading}</p>
        ))}
    </Panel>
  )
}

/** Stays in the page once it was opened, with the choices of the user. */
function SendingPanel({ directory }: { directory: LoadedDirectory }) {
  const { send, document } = view.value
  const isOpen = send && document === 0
  const [wasOpen, setWasOpen] = useState(isOpen)
  const [company, setCompany] = useState(0)
  const isOther = company > 0 && company !== directory.company
  const other = useParties(isOther ? company : 0)
  if (isOpen && !wasOpen) setWasOpen(true)
  if (!wasOpen) return null
  return (
    <Panel isOpen={isOpen} content={0} title={pageTexts(DOCUMENTS).documents.send} subtitle="">
      <Sending
        directory={isOther ? { ...directory, ...other } : directory}
        agent={view.value.agent}
        onCompany={setCompany}
        chip={({ state }) => <StateChip state={state} />}
      />
    </Panel>
  )
}

/** Returns the focus to the row, or to the list, when a panel is closed. */
function useFocusReturn(): void {
  const { document: id, send } = view.value
  const lastId = useRef(0)
  const wasOpen = useRef(false)
  useEffect(() => {
    const isOpen = id > 0 || send
    if (wasOpen.current && !isOpen) {
      const row = document.getElementById(openButtonId(lastId.current))
      ;(row ?? document.getElementById(lastId.current > 0 ? 'received' : 'send'))?.focus()
    }
    wasOpen.current = isOpen
    lastId.current = id
  }, [id, send])
}

function isInUse(id: number): boolean {
  const row = document.activeElement?.closest<HTMLElement>('[data-id]')
  return row?.dataset.id === String(id) || view.value.document === id
}
