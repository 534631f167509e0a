import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** A place whose content is made when it is scrolled to, or a key is pressed, so that the first screen need not wait for it. */
export function WhenSeen(props: { class: string; children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (isSeen || !place.current) return
    const see = () => setSeen(true)
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) see()
    })
    observer.observe(place.current)
    addEventListener('keydown', see) // else Tab would pass it by
    return () => {
      observer.disconnect()
      removeEventListener('keydown', see)
    }
  }, [isSeen])
  return (
    <div ref={place} class={props.class}>
      {isSeen && props.children}
    </div>
  )
}
