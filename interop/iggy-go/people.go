package main

import (
	"errors"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
	ierror "github.com/apache/iggy/foreign/go/errors"
)

func login(iggy iggcon.Client, words *words) (any, error) {
	return number(iggy.LoginUser(words.text(), words.text()))
}

func loginToken(iggy iggcon.Client, words *words) (any, error) {
	return number(iggy.LoginWithPersonalAccessToken(words.text()))
}

func number(identity *iggcon.IdentityInfo, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return identity.UserId, nil
}

func createUser(iggy iggcon.Client, words *words) (any, error) {
	created, err := iggy.CreateUser(words.text(), words.text(), iggcon.Active, words.permissions())
	if err != nil {
		return nil, err
	}
	return created.Id, nil
}

func users(iggy iggcon.Client, _ *words) (any, error) {
	found, err := iggy.GetUsers()
	return sorted(found, func(each iggcon.UserInfo) string { return each.Username }), err
}

func user(iggy iggcon.Client, words *words) (any, error) {
	found, err := iggy.GetUser(words.name())
	if err != nil {
		return orNothing(nil, err, ierror.ErrResourceNotFound)
	}
	status := map[iggcon.UserStatus]string{iggcon.Active: "Active", iggcon.Inactive: "Inactive"}[found.Status]
	allowed := []bool{false, false}
	if found.Permissions != nil {
		allowed = []bool{found.Permissions.Global.PollMessages, found.Permissions.Global.SendMessages}
	}
	return []any{found.Username, status, allowed}, nil
}

func renameUser(iggy iggcon.Client, words *words) (any, error) {
	old, name := words.name(), words.text()
	return nil, iggy.UpdateUser(old, &name, nil)
}

func disableUser(iggy iggcon.Client, words *words) (any, error) {
	status := iggcon.Inactive
	return nil, iggy.UpdateUser(words.name(), nil, &status)
}

func permitUser(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.UpdatePermissions(words.name(), words.permissions())
}

func changePassword(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.ChangePassword(words.name(), words.text(), words.text())
}

func deleteUser(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.DeleteUser(words.name())
}

func createToken(iggy iggcon.Client, words *words) (any, error) {
	created, err := iggy.CreatePersonalAccessToken(words.text(), 0)
	if err != nil {
		return nil, err
	}
	return created.Token, nil
}

// tokens of this user; the client calls it a mistake that there are none.
func tokens(iggy iggcon.Client, _ *words) (any, error) {
	found, err := iggy.GetPersonalAccessTokens()
	if errors.Is(err, ierror.ErrEmptyMessagePayload) {
		return []string{}, nil
	}
	return sorted(found, func(each iggcon.PersonalAccessTokenInfo) string { return each.Name }), err
}

func deleteToken(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.DeletePersonalAccessToken(words.text())
}
