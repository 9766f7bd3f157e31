package devstack

import (
	"context"
	"crypto/rand"
	"errors"

	"brine/account"
)

// SampleUser is the customer of the bundled shop who has an account.
const SampleUser = "u00042"

// Account is an account of the bundled shop; its password is known to nobody else.
type Account struct {
	Name, Password, Owner string
	Role                  account.Role
}

// Accounts makes the bundled shop's accounts: one of its customers, somebody of its support and an administrator, each with a password of
// its own. It returns those that were not there yet.
func Accounts(ctx context.Context, s *account.Store) (made []Account, err error) {
	for _, a := range []Account{
		{Name: "customer", Role: account.Customer, Owner: SampleUser},
		{Name: "support", Role: account.Support},
		{Name: "admin", Role: account.Admin},
	} {
		a.Password = rand.Text()
		switch _, err := s.Add(ctx, a.Name, a.Owner, a.Role, a.Password); {
		case errors.Is(err, account.ErrTaken):
		case err != nil:
			return made, err
		default:
			made = append(made, a)
		}
	}
	return made, nil
}
