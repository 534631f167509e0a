// Documents by company and agent: what has arrived, a look at it, and a place to drop files.

import { useState } from 'preact/hooks'
import { FailureNotice, Notice, wordsOf } from '../parts/notice.tsx'
import { look, texts, view } from '../parts/view.ts'
import type { Document, Named } from '../server/documents.ts'
import { session } from '../server/session.ts'
import { NeedsSecret } from '../session/needs-secret.tsx'
import { type Directory, useAgentNames, useDirectory } from './directory.ts'
import { DocumentList, type Names } from './document-list.tsx'
import { type Newest, useNewest } from './newest.ts'
import { Preview } from './preview.tsx'
import { documentsTexts } from './texts.ts'
import { Upload } from './upload.tsx'

export function DocumentsScreen() {
  const current = session.value
  if (current.state === 'in' && !current.token) return <NeedsSecret what="token" />
  return <Documents />
}

// Names, filters and the place to drop files come with the first list, whichever answer is the last: else each would push
// what is already being read.
function Documents() {
  const { company, agent } = view.value
  const directory = useDirectory(company)
  const newest = useNewest({ company, agent })
  const [opened, open] = useState<Document | undefined>(undefined)
  const isNamed = directory.isLoaded || directory.failure !== undefined
  const agentNames = useAgentNames(newest.documents?.map(({ company_id }) => company_id) ?? [])
  const isAnswered = isNamed && (newest.documents ?? newest.failure) !== undefined
  const [isThere, setThere] = useState(isAnswered)
  const isReady = isAnswered && (isThere || agentNames.isLoaded)
  if (isReady && !isThere) setThere(true)
  const names: Names = {
    companies: new Map(directory.companies.map(({ id, name }) => [id, name])),
    agents: agentNames.names,
  }
  return (
    <div class="documents">
      <h1 class="unseen">{texts.value.screens.documents}</h1>
      <section class="card received" aria-labelledby="received">
        <Head newest={newest} directory={isThere ? directory : undefined} />
        {isReady ? <Received newest={newest} names={names} onOpen={open} /> : <Loading />}
      </section>
      {isThere && <Upload directory={directory} />}
      {opened && <Preview document={opened} names={names} onClose={() => open(undefined)} />}
    </div>
  )
}

function Loading() {
  return <p class="loading">{texts.value.loading}</p>
}

function Head({ newest, directory }: { newest: Newest; directory: Directory | undefined }) {
  const words = documentsTexts.value.documents
  const { company, agent } = view.value
  const { documents, failure, fresh } = newest
  return (
    <div class="card-head">
      <div>
        <h2 id="received">{words.list}</h2>
        <p class={failure ? 'live refusal' : 'live quiet'} role="status">
          {failure && documents ? words.waiting : fresh > 0 ? words.fresh(fresh) : words.live}
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
              onChoose={(id) => look({ company: id, agent: 0 })}
            />
          )}
          <Filter
            label={words.agent}
            all={words.all}
            value={agent}
            choices={directory.agents}
            onChoose={(id) => look({ agent: id })}
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
  choices: readonly Named[]
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

function Received(props: { newest: Newest; names: Names; onOpen: (document: Document) => void }) {
  const words = documentsTexts.value.documents
  const { documents, failure, hasMore, more } = props.newest
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
      {failure && <p class="refusal">{wordsOf(failure).title}</p>}
      {hasMore && (
        <button type="button" class="button" onClick={more}>
          {words.more}
        </button>
      )}
    </>
  )
}
