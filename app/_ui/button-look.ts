import { cva } from 'class-variance-authority'

/** How buttons, and links that look like them, are drawn. */
export const buttonLook = cva(
  [
    'relative inline-flex max-w-full shrink-0 items-center justify-center gap-2 whitespace-nowrap rounded-md border font-medium',
    'transition-colors duration-100 select-none [&_svg]:size-4 [&_svg]:shrink-0',
    'disabled:opacity-50 not-aria-busy:aria-disabled:opacity-50 data-[state=open]:bg-raised',
  ],
  {
    variants: {
      variant: {
        primary:
          'border-accent bg-accent text-accent-ink enabled:hover:border-accent-hover enabled:hover:bg-accent-hover [a&]:hover:bg-accent-hover data-[state=open]:bg-accent-hover',
        secondary: 'border-line-strong bg-panel text-ink enabled:hover:bg-raised [a&]:hover:bg-raised',
        danger:
          'border-line-strong bg-panel text-held enabled:hover:border-held enabled:hover:bg-held-soft [a&]:hover:bg-held-soft',
        'danger-solid': 'border-held bg-held text-held-ink enabled:hover:border-held-hover enabled:hover:bg-held-hover',
        ghost:
          'border-transparent bg-transparent text-ink-2 enabled:hover:bg-raised enabled:hover:text-ink [a&]:hover:bg-raised [a&]:hover:text-ink',
      },
      size: {
        sm: 'min-h-7 px-2.5 text-sm pointer-coarse:min-h-9',
        md: 'min-h-8 px-3 pointer-coarse:min-h-10',
        lg: 'min-h-10 px-4 text-base',
      },
    },
    defaultVariants: { variant: 'secondary', size: 'md' },
  },
)
