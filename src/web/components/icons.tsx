// Line icons in the colour and size of the text.

import type { ComponentChildren } from 'preact'

export function lineIcon(children: ComponentChildren) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {children}
    </svg>
  )
}

export const icons = {
  mark: (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="16" cy="16" r="16" />
      <path d="M21.6 11.4a7.2 7.2 0 1 0 0 9.2M11.4 25.2 16.2 6.8M15.8 25.2l4.8-18.4" />
    </svg>
  ),
  previous: lineIcon(<path d="m15 5-7 7 7 7" />),
  next: lineIcon(<path d="m9 5 7 7-7 7" />),
  down: lineIcon(<path d="m6 9.5 6 6 6-6" />),
  swap: lineIcon(<path d="M4 8h15m-4-4 4 4-4 4M20 16H5m4-4-4 4 4 4" />),
  copy: lineIcon(
    <>
      <rect x="9" y="9" width="11" height="11" rx="2" />
      <path d="M5 15a2 2 0 0 1-1-2V6a2 2 0 0 1 2-2h7a2 2 0 0 1 2 1" />
    </>,
  ),
  done: lineIcon(<path d="m5 13 4.5 4.5L19 7" />),
  sun: lineIcon(
    <>
      <circle cx="12" cy="12" r="4" />
      <path d="M12 2.5v2m0 15v2M2.5 12h2m15 0h2M5.3 5.3l1.4 1.4m10.6 10.6 1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4" />
    </>,
  ),
  moon: lineIcon(<path d="M20 14.5A8.5 8.5 0 1 1 9.5 4a6.7 6.7 0 0 0 10.5 10.5Z" />),
  person: lineIcon(
    <>
      <circle cx="12" cy="8" r="4" />
      <path d="M4.5 20.5a7.5 7.5 0 0 1 15 0" />
    </>,
  ),
  search: lineIcon(
    <>
      <circle cx="11" cy="11" r="6.5" />
      <path d="m16 16 4.5 4.5" />
    </>,
  ),
  add: lineIcon(<path d="M12 5v14M5 12h14" />),
  close: lineIcon(<path d="m6 6 12 12M18 6 6 18" />),
  download: lineIcon(<path d="M12 4v11m-4.5-4.5L12 15l4.5-4.5M5 19.5h14" />),
  upload: lineIcon(<path d="M12 16V5M7.5 9.5 12 5l4.5 4.5M5 19.5h14" />),
  eye: lineIcon(
    <>
      <path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z" />
      <circle cx="12" cy="12" r="2.8" />
    </>,
  ),
  outside: lineIcon(
    <path d="M13 5h6v6M19 5l-9 9M9 6H6a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1v-3" />,
  ),
  table: lineIcon(<path d="M4 6h16M4 12h16M4 18h16M9.5 6v12" />),
  calendar: lineIcon(
    <>
      <rect x="4" y="5.5" width="16" height="14.5" rx="2" />
      <path d="M4 10h16M8.5 3v4m7-4v4" />
    </>,
  ),
  link: lineIcon(
    <path d="M10 14a4 4 0 0 0 6 .4l3-3a4.2 4.2 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6-.4l-3 3a4.2 4.2 0 0 0 6 6l1.5-1.5" />,
  ),
  certificate: lineIcon(<path d="M6 3.5h8l4 4v13H6Zm8 0v4h4M9 12h6m-6 4h6" />),
  print: lineIcon(<path d="M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7Z" />),
  clock: lineIcon(
    <>
      <circle cx="12" cy="12" r="8.5" />
      <path d="M12 7v5.5l3.5 2" />
    </>,
  ),
  offline: lineIcon(
    <path d="M3 3l18 18M5 12.5a10 10 0 0 1 4-2.4m4.5-.1a10 10 0 0 1 5.5 2.5M8.5 16a5 5 0 0 1 7 0M2 9a15 15 0 0 1 4-2.6M11 5a15 15 0 0 1 11 4m-10 10.5v.1" />,
  ),
  warning: lineIcon(<path d="M12 4 2.8 19.5h18.4L12 4Zm0 6v4.5m0 2.4v.1" />),
}
