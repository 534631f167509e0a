import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { FailureNotice } from './notice.tsx'
import { refreshCount } from './use-api.ts'
import { texts } from './view.ts'

type ComponentProps<Component> = Component extends (props: infer Props extends object) => unknown
  ? Props
  : never

/**
 * Component of a file that is fetched when it is first rendered. The first of them fetches the styles of all. After a
 * failure each refresh of the page's data tries again.
 */
export function lazyView<File, Name extends keyof File>(
  load: () => Promise<File>,
  name: Name,
): FunctionComponent<ComponentProps<File[Name]>> {
  type Props = ComponentProps<File[Name]>
  let Component: FunctionComponent<Props> | undefined
  return function Lazy(props: Props) {
    const [state, setState] = useState<'loading' | 'ready' | 'failed'>(Component ? 'ready' : 'loading')
    const refresh = refreshCount.value
    useEffect(() => {
      if (Component) return
      Promise.all([load(), loadStyles()]).then(
        ([file]) => {
          Component = file[name] as FunctionComponent<Props>
          setState('ready')
        },
        () => setState('failed'),
      )
    }, [refresh])
    if (Component) return <Component {...props} />
    if (state === 'failed') return <FailureNotice failure={{ kind: 'offline', status: 0, detail: '' }} />
    return <p class="loading">{texts.value.loading}</p>
  }
}

let styles: Promise<void> | undefined

/** Loads the styles that the first view does not need. A failed load is tried again by the next view. */
function loadStyles(): Promise<void> {
  styles ??= new Promise<void>((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = document.querySelector<HTMLMetaElement>('meta[name=views-style]')?.content ?? ''
    link.onload = () => resolve()
    link.onerror = () => {
      link.remove()
      styles = undefined
      reject(new Error(`${link.href} was not loaded`))
    }
    document.head.append(link)
  })
  return styles
}
