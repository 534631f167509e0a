// Drop zone for files, with company, agent and owner where there is a choice, and the progress of each upload.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { DirectoryEntry, Document } from '../../api/documents.ts'
import { mayUse } from '../../api/session.ts'
import { Button } from '../../components/button.tsx'
import { icons, lineIcon } from '../../components/icons.tsx'
import { failureText } from '../../components/notice.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { pageTexts } from '../../components/view.ts'
import { SENDING } from '../../i18n/sending.ts'
import type { LoadedDirectory } from '../directory.ts'
import { useSummary } from '../live-summary.ts'
import { UploadList } from './upload-list.tsx'
import { addUploads, isFollowed, readOutcomes, uploads } from './upload-queue.ts'

type SendingProps = {
  directory: LoadedDirectory
  /** Agent of the list's filter; 0: none. */
  agent: number
  onCompany: (id: number) => void
  chip: (document: Document) => ComponentChildren
}

const CAMERA_ICON = lineIcon(
  <>
    <path d="M4 8h3.5L9 5.5h6L16.5 8H20v11H4Z" />
    <circle cx="12" cy="13" r="3.3" />
  </>,
)
const coarsePointer = matchMedia('(pointer: coarse)')

export function Sending(props: SendingProps) {
  const words = pageTexts(SENDING)
  if (!mayUse('documents:POST')) return <p>{words.forbidden}</p>
  return (
    <div class="sending-form">
      <p class="quiet">{words.intro}</p>
      <DropZone {...props} />
    </div>
  )
}

function DropZone({ directory, agent: listAgent, onCompany, chip }: SendingProps) {
  const words = pageTexts(SENDING)
  const [selection, setSelection] = useState({ agent: 0, owner: 0 })
  const { companies, company, owners, isLoaded, failure } = directory
  const agents = directory.agents.filter(({ active }) => active)
  const agent = selectedId(agents, selection.agent || listAgent)
  const owner = selectedId(owners, selection.owner)
  const isReady = company > 0 && agent > 0 && owner > 0
  const hint = failure ? failureText(failure).title : isLoaded && !isReady && missingText()
  function missingText(): string {
    if (company === 0) return words.missing.company
    if (agents.length === 0) return words.noAgents
    if (owners.length === 0) return words.noOwners
    return agent === 0 ? words.missing.agent : words.missing.owner
  }
  const addFiles = (files: readonly File[]) => {
    if (isReady) addUploads(files, { company, agent, owner })
  }
  return (
    <>
      <div class="upload-to grid gap-10">
        <Choice label={words.company} value={company} all={companies} onChoose={onCompany} />
        <Choice
          label={words.agent}
          value={agent}
          all={agents}
          onChoose={(id) => setSelection({ ...selection, agent: id })}
        />
        <Choice
          label={words.owner}
          value={owner}
          all={owners}
          onChoose={(id) => setSelection({ ...selection, owner: id })}
        />
      </div>
      <FileZone isReady={isReady} hint={hint || undefined} onFiles={addFiles} />
      <UploadList chip={chip} />
      {uploads.value.some(isFollowed) && <Outcomes />}
    </>
  )
}

/** Reads the states of sent documents when a document changes. The list's filter may select others. */
function Outcomes() {
  const { summary } = useSummary({ company: 0, agent: 0 })
  useEffect(readOutcomes, [summary?.changed])
  return null
}

function FileZone(props: {
  isReady: boolean
  hint: string | undefined
  onFiles: (files: readonly File[]) => void
}) {
  const words = pageTexts(SENDING)
  const { isReady, hint, onFiles } = props
  const [isOver, setOver] = useState(false)
  const [hasFolder, setFolder] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const camera = useRef<HTMLInputElement>(null)
  const isCoarse = coarsePointer.matches
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry())
    setFolder(entries.some((entry) => entry?.isDirectory))
    const files = [...(event.dataTransfer?.files ?? [])]
    onFiles(files.filter((_, index) => !entries[index]?.isDirectory))
  }
  const addSelected = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    onFiles([...(currentTarget.files ?? [])])
    currentTarget.value = ''
  }
  return (
    <>
      <fieldset
        class={isOver && isReady ? 'drop grid gap-10 sunk over' : 'drop grid gap-10 sunk'}
        aria-label={isCoarse ? words.photoOrFiles : words.drop}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        {icons.upload}
        <p class="drop-title">{isCoarse ? words.photoOrFiles : words.drop}</p>
        <p class="hint">{words.kinds}</p>
        {isCoarse && (
          <Button class="button main wide" disabled={!isReady} onClick={() => camera.current?.click()}>
            {CAMERA_ICON}
            {words.photo}
          </Button>
        )}
        <Button
          class={isCoarse ? 'button wide choose' : 'button choose'}
          disabled={!isReady}
          onClick={() => input.current?.click()}
        >
          {words.choose}
        </Button>
        <input ref={input} type="file" multiple hidden onChange={addSelected} />
        {isCoarse && (
          <input
            ref={camera}
            type="file"
            accept="image/*"
            capture="environment"
            hidden
            onChange={addSelected}
          />
        )}
        {hint && (
          <p class="caution" role="status">
            {hint}
          </p>
        )}
      </fieldset>
      {hasFolder && (
        <p class="refusal" role="alert">
          {words.folder}
        </p>
      )}
    </>
  )
}

/** Field of a choice. Empty if there is at most one. */
function Choice(props: {
  label: string
  value: number
  all: readonly DirectoryEntry[]
  onChoose: (id: number) => void
}) {
  const { all, value, onChoose } = props
  if (all.length < 2) return null
  return (
    <SelectField
      {...props}
      options={all.map(({ id, name }) => [id, name])}
      onChoose={(chosen) => onChoose(Number(chosen))}
    >
      {value === 0 && <option value={0}>—</option>}
    </SelectField>
  )
}

/** The selected entry, or the only one; 0: the user must select one. */
function selectedId(all: readonly DirectoryEntry[], selected: number): number {
  if (all.some(({ id }) => id === selected)) return selected
  return all.length === 1 ? (all[0]?.id ?? 0) : 0
}
