// The paths that are pages. The build hands them to the server, which answers all others with 404.
export const usersPages = ["/", "/orders", "/track", "/sql", "/signin"] as const;
export const operatorsPages = ["/", "/overview", "/regions", "/sql", "/accounts", "/audit", "/signin"] as const;
