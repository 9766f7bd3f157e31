package devstack

import (
	"context"
	"crypto/rand"
	"errors"

	"brine/account"
)

// SampleUser is the customer of the bundled shop who has an account.
const SampleUser = "u00042"

// Account is an account of the bundled shop. Its password exists nowhere else.
type Account struct {
	Name, Password, Owner string
	Role                  account.Role
}

// Accounts creates the bundled shop's accounts: one customer, one support agent and one administrator, each with its own password. It
// returns those that did not exist yet.
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
