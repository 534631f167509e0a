// Screen of documents by company and agent: list, preview and upload.

import { useState } from 'preact/hooks'
import type { DirectoryEntry, Document } from '../api/documents.ts'
import { session } from '../api/session.ts'
import { FailureNotice, failureText, Notice } from '../components/notice.tsx'
import { setView, texts, view } from '../components/view.ts'
import { NeedsSecret } from '../session/lazy-doors.ts'
import { type LoadedDirectory, useAgentNames, useDirectory } from './directory.ts'
import { type DirectoryNames, DocumentList, type ListProps } from './document-list.tsx'
import { type LiveDocuments, useLiveDocuments } from './live-documents.ts'
import { Preview } from './preview.tsx'
import { documentsTexts } from './texts.ts'
import { Upload } from './upload.tsx'

export function DocumentsScreen() {
  const current = session.value
  if (current.state === 'in' && !current.token) return <NeedsSecret kind="token" />
  return <Documents />
}

// Names, filters and upload appear together with the first list: later ones would move text that the user reads.
function Documents() {
  const { company, agent } = view.value
  const directory = useDirectory(company)
  const received = useLiveDocuments({ company, agent })
  const [preview, setPreview] = useState<Document | undefined>(undefined)
  const hasDirectory = directory.isLoaded || directory.failure !== undefined
  const agentNames = useAgentNames(received.documents?.map(({ company_id }) => company_id) ?? [])
  const isLoaded = hasDirectory && (received.documents ?? received.failure) !== undefined
  const [wasReady, setReady] = useState(isLoaded)
  const isReady = isLoaded && (wasReady || agentNames.isLoaded)
  if (isReady && !wasReady) setReady(true)
  const names: DirectoryNames = {
    companies: new Map(directory.companies.map(({ id, name }) => [id, name])),
    agents: agentNames.names,
  }
  return (
    <div class="documents">
      <h1 class="unseen">{texts.value.screens.documents}</h1>
      <section class="card received" aria-labelledby="received">
        <ListHead received={received} directory={wasReady ? directory : undefined} />
        {isReady ? <ReceivedList received={received} names={names} onOpen={setPreview} /> : <Loading />}
      </section>
      {wasReady && <Upload directory={directory} />}
      {preview && <Preview document={preview} names={names} onClose={() => setPreview(undefined)} />}
    </div>
  )
}

function Loading() {
  return <p class="loading">{texts.value.loading}</p>
}

function ListHead({
  received,
  directory,
}: {
  received: LiveDocuments
  directory: LoadedDirectory | undefined
}) {
  const words = documentsTexts.value.documents
  const { company, agent } = view.value
  const { documents, failure, newCount } = received
  return (
    <div class="card-head">
      <div>
        <h2 id="received">{words.list}</h2>
        <p class={failure ? 'live refusal' : 'live quiet'} role="status">
          {failure && documents ? words.waiting : newCount > 0 ? words.fresh(newCount) : words.live}
        </p>
      </div>
      {directory && (
        <div class="filters">
          {directory.companies.length > 1 && (
            <Filter
              label={words.company}
              all={words.allCompanies}
              value={company}
              choices={directory.companies}
              onChoose={(id) => setView({ company: id, agent: 0 })}
            />
          )}
          <Filter
            label={words.agent}
            all={words.all}
            value={agent}
            choices={directory.agents}
            onChoose={(id) => setView({ agent: id })}
          />
        </div>
      )}
    </div>
  )
}

function Filter(props: {
  label: string
  all: string
  value: number
  choices: readonly DirectoryEntry[]
  onChoose: (id: number) => void
}) {
  const isKnown = props.value === 0 || props.choices.some(({ id }) => id === props.value)
  return (
    <label class="filter">
      <span>{props.label}</span>
      <select
        class="field"
        value={props.value}
        onChange={(event) => props.onChoose(Number(event.currentTarget.value))}
      >
        <option value={0}>{props.all}</option>
        {!isKnown && <option value={props.value}>{props.value}</option>}
        {props.choices.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

function ReceivedList(props: ListProps & { received: LiveDocuments }) {
  const words = documentsTexts.value.documents
  const { documents, failure, hasMore, loadMore } = props.received
  const { company, agent } = view.value
  if (!documents && failure?.kind === 'forbidden') {
    return (
      <Notice title={words.cannotRead}>
        <p>{words.cannotReadText}</p>
      </Notice>
    )
  }
  if (!documents) return failure ? <FailureNotice failure={failure} /> : <Loading />
  if (documents.length === 0) {
    return (
      <Notice title={company || agent ? words.noneFound : words.none}>
        <p>{words.noneText}</p>
      </Notice>
    )
  }
  return (
    <>
      <DocumentList documents={documents} names={props.names} onOpen={props.onOpen} />
      {failure && <p class="refusal">{failureText(failure).title}</p>}
      {hasMore && (
        <button type="button" class="button" onClick={loadMore}>
          {words.more}
        </button>
      )}
    </>
  )
}
